/** Replies to messages; not part of the first view. */
export const repliesTexts = {
  'event.replied': 'Replied',
  'replies.title': 'Replies',
  'replies.none': 'No replies yet',
  'replies.noneHint':
    'Replies to messages that were sent with receiveReplies appear here and go to your webhooks.',
  'replies.received': 'Received',
  'replies.from': 'From',
  'replies.subject': 'Subject',
  'replies.automatic': 'automatic',
  'replies.noSubject': '(no subject)',
  'replies.authentication': 'SPF {spf}, DKIM {dkim}, DMARC {dmarc}',
  'replies.text': 'Text',
  'replies.html': 'HTML',
  'replies.show': 'Show reply',
} as const;
