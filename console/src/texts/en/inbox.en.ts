/** The inbox. */
export const inboxTexts = {
  'inbox.title': 'Inbox',
  'inbox.hint': 'Mail captured instead of delivered.',
  'inbox.find': 'Search subject, addresses or text',
  'inbox.from': 'From',
  'inbox.to': 'To',
  'inbox.subject': 'Subject',
  'inbox.received': 'Received',
  'inbox.none': 'No mail yet',
  'inbox.noneHint': 'Messages appear here once they’re sent.',
  'inbox.noneFound': 'No mail matches your search',
  'inbox.noneFoundHint': 'Try a shorter search.',
  'inbox.empty': 'Empty inbox',
  'inbox.emptyConsequence': 'All captured mail will be deleted. You can’t undo this.',
  'inbox.back': 'Back to inbox',
  'inbox.headers': 'Headers',
  'inbox.source': 'Source',
} as const;
