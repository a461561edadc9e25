#!/bin/sh
# A stand-in for PBS on one machine, under the names qsub, qstat and qdel: a process for each job,
# which has a folder in $STAND_IN. The last argument is the script or a job's id.
set -eu
for last; do :; done
job=$STAND_IN/$last
case ${0##*/} in
qsub)
	job=$(mktemp -d "$STAND_IN/XXXXXX")
	echo "$@" >"$job/asked"
	setsid sh -c 'sh "$0"; echo $? >"$1/ended.part"; mv "$1/ended.part" "$1/ended"' "$last" "$job" \
		>"$job/out" 2>&1 </dev/null &
	echo $! >"$job/pid"
	basename "$job"
	;;
qstat)
	touch "$STAND_IN/../asked_about" # so that a test knows when
	if [ -e "$job/ended" ]; then
		printf 'job_state = F\nExit_status = %s\n' "$(cat "$job/ended")"
	elif kill -0 "$(cat "$job/pid")" 2>/dev/null; then
		echo 'job_state = R'
	else
		printf 'job_state = F\nExit_status = 271\n'
	fi
	;;
qdel)
	# A job that has ended is an error, and the others are cancelled all the same, as by PBS.
	failed=0
	for id; do kill -s TERM -- "-$(cat "$STAND_IN/$id/pid")" || failed=1; done
	exit $failed
	;;
esac
