/** Suppressions. */
export const suppressionsTexts = {
  'suppressions.title': 'Suppressions',
  'suppressions.hint': 'Addresses that are not written to.',
  'suppressions.add': 'Suppress an address',
  'suppressions.addHint': 'Requests to it are refused from then on.',
  'suppressions.importTitle': 'Import suppressions',
  'suppressions.importHint':
    'The column address is enough; reason may be hard_bounce, complaint, unsubscribe or manual. An export can be imported as it is.',
  'suppressions.export': 'Export CSV',
  'suppressions.find': 'Address contains',
  'suppressions.address': 'Address',
  'suppressions.reason': 'Reason',
  'suppressions.anyReason': 'Any reason',
  'suppressions.since': 'Since',
  'suppressions.message': 'Message',
  'suppressions.showMessage': 'Show',
  'suppressions.stillSuppressed':
    '{address} was removed as “{removed}”. It is still suppressed as “{left}”.',
  'suppressions.again': '{address} is suppressed again, from now on.',
  'suppressions.none': 'Nobody is suppressed',
  'suppressions.noneHint': 'Addresses come here by themselves when they do not exist or complain.',
  'suppressions.noneFound': 'No suppressed address passes these filters',
  'suppressions.noneFoundHint': 'Clear a filter.',

  'suppression.hard_bounce': 'Does not exist',
  'suppression.complaint': 'Complained',
  'suppression.unsubscribe': 'Unsubscribed',
  'suppression.manual': 'By hand',
} as const;
