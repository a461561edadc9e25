"""report: the words above the report that Snakemake makes of captions and categories."""


report: "../report/workflow.rst"
