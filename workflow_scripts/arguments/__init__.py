"""ARCT: what models of arguments really use (Niven and Kao 2019)."""
