/** Senders. */
export const sendersTexts = {
  'senders.title': 'Senders',
  'senders.hint':
    'The addresses that messages come from. Nothing is sent from one that is not verified.',
  'senders.add': 'Add a sender',
  'senders.change': 'Change the sender',
  'senders.address': 'Address',
  'senders.names': 'Display names',
  'senders.namesHint': 'The first is the default; * allows any. Enter adds one.',
  'senders.anyName': 'any name',
  'senders.verified': 'Verified',
  'senders.isVerified': 'Verified',
  'senders.isNot': 'Not verified',
  'senders.verify': 'Mark as verified',
  'senders.sendLink': 'Send a link',
  'senders.linkSent': 'A link was sent to {address}. Opening it verifies the sender.',
  'senders.none': 'No senders yet',
  'senders.noneHint': 'Add the address that your messages come from, such as orders@ your domain.',
  'senders.removeTitle': 'Remove this sender?',
  'senders.removeConsequence':
    'Requests that name it are refused from then on. It can be added again.',
} as const;
