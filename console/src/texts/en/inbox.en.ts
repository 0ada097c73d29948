/** The inbox. */
export const inboxTexts = {
  'inbox.title': 'Inbox',
  'inbox.hint': 'Mail that was captured instead of being delivered.',
  'inbox.find': 'Find in subject, addresses or text',
  'inbox.from': 'From',
  'inbox.to': 'To',
  'inbox.subject': 'Subject',
  'inbox.received': 'Received',
  'inbox.none': 'The inbox is empty',
  'inbox.noneHint': 'Messages stand here as soon as they are sent.',
  'inbox.noneFound': 'No captured mail has this in it',
  'inbox.empty': 'Empty the inbox',
  'inbox.emptyConsequence': 'All captured mail is deleted.',
  'inbox.back': 'To the inbox',
  'inbox.headers': 'Headers',
  'inbox.source': 'Source',
} as const;
