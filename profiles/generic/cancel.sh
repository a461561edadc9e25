#!/bin/sh
# Cancels the jobs whose ids are the arguments.
exec qdel "$@"
