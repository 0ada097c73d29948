/** Senders. */
export const sendersTexts = {
  'senders.title': 'Senders',
  'senders.hint': 'The addresses you send from. Only verified senders can send.',
  'senders.add': 'Add a sender',
  'senders.change': 'Edit sender',
  'senders.address': 'Address',
  'senders.names': 'Display names',
  'senders.namesHint': 'The first is the default; * allows any. Press Enter to add one.',
  'senders.anyName': 'any name',
  'senders.verified': 'Verified',
  'senders.isVerified': 'Verified',
  'senders.isNot': 'Not verified',
  'senders.verify': 'Mark as verified',
  'senders.sendLink': 'Send verification link',
  'senders.linkSent': 'Verification link sent to {address}.',
  'senders.none': 'No senders yet',
  'senders.noneHint': 'Add the address you send from, such as orders@example.com.',
  'senders.removeTitle': 'Remove this sender?',
  'senders.removeConsequence':
    'Requests that use it are rejected from now on. You can add it back later.',
} as const;
