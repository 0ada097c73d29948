import type { DomainRecord } from '../api/management.generated.ts';

/** The records as lines of a zone file (RFC 1035 section 5.1), which most DNS providers import. */
export function zoneFile(records: readonly DomainRecord[]): string {
  return records
    .map(
      ({ name, type, expected }) =>
        `${name}. 3600 IN ${type} ${type === 'TXT' ? quoteRecordData(expected) : expected}\n`,
    )
    .join('');
}

/** A character string has at most 255 octets, so a long key needs several (RFC 6376 section 3.6.2.2). */
export function quoteRecordData(text: string): string {
  const strings = text.match(/.{1,255}/g) ?? [''];
  return strings.map((one) => `"${one.replaceAll(/["\\]/g, '\\$&')}"`).join(' ');
}
