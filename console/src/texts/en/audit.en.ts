/** The audit log. */
export const auditTexts = {
  'audit.title': 'Audit log',
  'audit.hint': 'Who changed what, and when.',
  'audit.at': 'Time',
  'audit.kind': 'Event',
  'audit.who': 'Actor',
  'audit.machine': 'Command line or service',
  'audit.from': 'IP address',
  'audit.detail': 'Details',
  'audit.refused': 'denied',
  'audit.filter': 'Event',
  'audit.none': 'No events yet',
  'audit.noneFound': 'No matching events',
  'audit.noneFoundHint': 'Enter an event such as sender_changed, or clear the filter.',
  'audit.noneHint': 'Changes to settings appear here, with who made them.',
} as const;
