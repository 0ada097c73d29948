import type { DomainRecord, PublicDkimKey, SendingDomain, ServiceNames } from './sending-domain.ts';

/**
 * The DNS records that a domain needs with the current delivery method, exactly as they must be published. Records that would
 * name an unknown host are omitted; `findNameProblems` says which setting is missing.
 */
export function domainRecords(
  domain: Pick<SendingDomain, 'domain' | 'returnPath' | 'trackingHost'>,
  keys: readonly PublicDkimKey[],
  service: ServiceNames,
): DomainRecord[] {
  const name = domain.domain;
  const anyActive = keys.some((key) => key.state === 'active');
  const dkim = keys
    .filter((key) => key.state !== 'retired')
    .map(
      (key): DomainRecord => ({
        kind: 'dkim',
        name: `${key.selector}._domainkey.${name}`,
        type: 'TXT',
        value: key.record,
        required: key.state === 'active' || !anyActive,
        why:
          key.state === 'active'
            ? 'Receiving servers verify the signature of every message with this key.'
            : 'This key starts signing once the record is found.',
      }),
    );
  const tracking: DomainRecord[] =
    domain.trackingHost === undefined || service.trackingTarget === undefined
      ? []
      : [
          {
            kind: 'tracking',
            name: domain.trackingHost,
            type: 'CNAME',
            value: `${service.trackingTarget}.`,
            required: false,
            why: 'Makes tracked links use your own domain.',
          },
        ];
  return [
    ...dkim,
    ...returnPathRecords(domain.returnPath, service),
    {
      kind: 'dmarc',
      name: `_dmarc.${name}`,
      type: 'TXT',
      value: `v=DMARC1; p=none; rua=mailto:dmarc@${name}`,
      required: true,
      why: 'Gmail and Yahoo require it from bulk senders. Any valid policy works.',
    },
    ...fromSpf(name, service),
    ...tracking,
  ];
}

/** Without a return path of our own, bounces go to the relay or the sender, and SPF is checked there. */
function returnPathRecords(name: string, service: ServiceNames): DomainRecord[] {
  const { host, spfMechanisms, usesReturnPath, delivery } = service;
  if (!usesReturnPath) return [];
  const spf: DomainRecord = {
    kind: 'spf',
    name,
    type: 'TXT',
    value: spfRecord(spfMechanisms, delivery === 'relay' ? '~all' : '-all'),
    required: true,
    why:
      delivery === 'relay'
        ? 'Allows your relay to send mail with this return path (RFC 7208).'
        : 'Allows this service to send mail with this return path (RFC 7208).',
  };
  const mx = (exchange: string): DomainRecord => ({
    kind: 'return-path',
    name,
    type: 'MX',
    value: `10 ${exchange}.`,
    required: true,
    why: 'Brings bounces and replies to this service.',
  });
  return [...(spfMechanisms.length > 0 ? [spf] : []), ...(host === undefined ? [] : [mx(host)])];
}

function fromSpf(name: string, { spfMechanisms, delivery }: ServiceNames): DomainRecord[] {
  if (spfMechanisms.length === 0) return [];
  const [added] = spfMechanisms;
  const merge =
    spfMechanisms.length === 1 ? `add ${added} to it` : 'add the mechanisms of this one to it';
  return [
    {
      kind: 'from-spf',
      name,
      type: 'TXT',
      value: spfRecord(spfMechanisms, '~all'),
      required: false,
      why:
        delivery === 'relay'
          ? `Lets your relay send for the domain. If you already have an SPF record, ${merge}. If your relay’s documentation names another record, use that one.`
          : `Some receiving servers also check SPF of the From domain. If you already have an SPF record, ${merge}.`,
    },
  ];
}

/** RFC 7208 section 4.5. */
function spfRecord(mechanisms: readonly string[], all: string): string {
  return ['v=spf1', ...mechanisms, all].join(' ');
}
