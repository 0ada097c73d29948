import { readHeaders } from './read-mime.ts';

/** One recipient of a delivery status notification (RFC 3464 section 2.3). */
export interface RecipientStatus {
  /** failed, delayed, delivered, relayed or expanded; in lower case. */
  readonly action: string;
  /** RFC 3463, if the report has one. */
  readonly status: string | undefined;
  /** The diagnostic code's text without its type. */
  readonly diagnostic: string;
}

const statusPattern = /\b([245]\.\d{1,3}\.\d{1,3})\b/;

/** Parses the recipients of a `message/delivery-status` part. If Action is missing, it is derived from the status. */
export function readDeliveryStatus(text: string): RecipientStatus[] {
  const groups = text
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .map(readHeaders);
  return groups
    .filter(
      (group) =>
        group.has('final-recipient') ||
        group.has('original-recipient') ||
        group.has('status') ||
        group.has('action'),
    )
    .slice(0, 100)
    .map((group) => {
      const status = statusPattern.exec(group.get('status')?.[0] ?? '')?.[1];
      const diagnostic = (group.get('diagnostic-code')?.[0] ?? '').replace(
        /^[\w.-]{1,40}\s*;\s*/,
        '',
      );
      const given = /^[a-z]+/.exec((group.get('action')?.[0] ?? '').trim().toLowerCase())?.[0];
      return { action: given ?? actionOf(status), status, diagnostic };
    });
}

function actionOf(status: string | undefined): string {
  if (status?.startsWith('2') === true) return 'delivered';
  return status?.startsWith('4') === true ? 'delayed' : 'failed';
}
