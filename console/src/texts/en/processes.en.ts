/** Processes of the installation. */
export const processesTexts = {
  'processes.running': '{running|1 process|# processes} running',
  'processes.live': 'Updates every 5 seconds',
  'processes.vanished': '{vanished} of {all|1 process|# processes} not responding',
  'processes.vanishedHint':
    'Other workers take over the messages. A stopped process leaves this list after an hour.',
  'processes.noWorker': 'No worker is running, so messages wait. Restart one.',
  'processes.roles': 'Roles',
  'processes.host': 'Machine',
  'processes.details': 'PID {pid} · v{version}',
  'processes.state': 'State',
  'processes.state.running': 'Running',
  'processes.state.vanished': 'Not responding',
  'processes.since': 'Started',
  'processes.seen': 'Last seen',
  'processes.inFlight': 'Sending\u00a0now',
  'processes.delay': 'Event loop lag',
  'processes.delayHint': '99th percentile; from 100 ms on, the process is overloaded',
  'processes.delayMs': '{delay} ms',
} as const;
