/** Suppressions. */
export const suppressionsTexts = {
  'suppressions.hint': 'Addresses you don’t send to.',
  'suppressions.add': 'Suppress an address',
  'suppressions.addHint': 'Requests to it are rejected from now on.',
  'suppressions.importTitle': 'Import suppressions',
  'suppressions.importHint':
    'Only a column address or email is required; reason can be hard_bounce, complaint, unsubscribe or manual. Exports can be imported.',
  'suppressions.export': 'Export CSV',
  'suppressions.find': 'Address contains',
  'suppressions.address': 'Address',
  'suppressions.reason': 'Reason',
  'suppressions.anyReason': 'Any reason',
  'suppressions.since': 'Since',
  'suppressions.message': 'Message',
  'suppressions.showMessage': 'Show',
  'suppressions.stillSuppressed':
    '“{removed}” removed for {address}. It’s still suppressed as “{left}”.',
  'suppressions.again': '{address} is suppressed again.',
  'suppressions.none': 'No suppressed addresses',
  'suppressions.noneHint': 'Hard bounces and spam complaints are added automatically.',
  'suppressions.noneFound': 'No suppressions match these filters',
  'suppressions.noneFoundHint': 'Clear a filter.',

  'suppression.hard_bounce': 'Hard bounce',
  'suppression.complaint': 'Complaint',
  'suppression.unsubscribe': 'Unsubscribed',
  'suppression.manual': 'Manual',
} as const;
