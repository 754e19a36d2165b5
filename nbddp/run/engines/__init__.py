"""Where a run can run: on this machine, or as a job of an engine that has others. Each is four verbs (`protocol`)."""
