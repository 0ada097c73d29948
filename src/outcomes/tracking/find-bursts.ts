import type { Engagement } from './engagement.ts';

/** A person needs longer than this to follow several links. */
const burstMs = 2_000;
/** Distinct links within that time. */
const burstLinks = 3;

/**
 * Finds scanners by their clicks: a reader that followed the hidden link, or several links at once, counts as a scanner
 * for everything it did in that message.
 */
export function findBursts(items: readonly Engagement[]): Engagement[] {
  const groups = new Map<string, Engagement[]>();
  for (const item of items) {
    if (item.kind !== 'clicked') continue;
    const key = `${item.message.messageId} ${item.network} ${item.userAgent}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  const verdicts = new Map<Engagement, string>();
  for (const group of groups.values()) {
    const reason = reasonOf(group);
    if (reason !== undefined) for (const item of group) verdicts.set(item, reason);
  }
  return items.map((item) => {
    const reason = verdicts.get(item);
    if (reason === undefined || item.verdict.class !== 'person') return item;
    return { ...item, verdict: { class: 'scanner', reason } };
  });
}

function reasonOf(group: readonly Engagement[]): string | undefined {
  if (group.some((item) => item.hidden)) return 'followed the hidden link';
  const clicks = group
    .filter((item) => item.link !== undefined)
    .sort((one, other) => one.at - other.at);
  // Sliding window over the clicks, counting each link in it.
  const links = new Map<number, number>();
  let first = 0;
  for (const { at, link = 0 } of clicks) {
    links.set(link, (links.get(link) ?? 0) + 1);
    for (let oldest = clicks[first]; oldest !== undefined && at - oldest.at > burstMs; ) {
      const { link: gone = 0 } = oldest;
      const left = (links.get(gone) ?? 1) - 1;
      if (left === 0) links.delete(gone);
      else links.set(gone, left);
      first += 1;
      oldest = clicks[first];
    }
    if (links.size >= burstLinks) return 'followed several links at once';
  }
  return undefined;
}
