"""Statistics: functions of arrays that know nothing of studies."""
