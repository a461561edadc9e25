#!/bin/sh
# Submits the job script that is the last argument; prints the job's id in the batch system.
set -eu
for script; do :; done
# What the job asks for stands in its script, as JSON in a comment.
asked() {
	found=$(sed -n "s/^# properties = .*\"$1\": \([0-9][0-9]*\).*/\1/p" "$script")
	echo "${found:-0}"
}
gpus=$(asked gpu)
queue=cpu
[ "$gpus" = 0 ] || queue=gpu
logs=.snakemake/generic_logs
mkdir -p "$logs"
exec qsub -q "$queue" -j oe -o "$logs" \
	-l "select=1:ncpus=$(asked threads):ngpus=$gpus:mem=$(asked mem_mb)mb" \
	-l "walltime=$(($(asked runtime) * 60))" "$script"
