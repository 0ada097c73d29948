import { Anchor, Paper, Stack, Text } from '@mantine/core';

/** More would be a newsletter, and its links are in its source. */
const maxLinks = 50;

interface MailLink {
  readonly href: string;
  readonly label: string;
}

/** The links of a mail, which can't be followed in its sandboxed frame. */
export function MailLinks({ links }: { links: readonly MailLink[] }) {
  return (
    <Paper withBorder p="md">
      <Stack gap={6}>
        {links.map(({ href, label }) => (
          <div key={`${label} ${href}`}>
            <Anchor
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              size="sm"
              underline="always"
              className="breakable"
            >
              {label === '' ? href : label}
            </Anchor>
            {label !== '' && label !== href && (
              <Text size="xs" c="dimmed" className="breakable">
                {href}
              </Text>
            )}
          </div>
        ))}
      </Stack>
    </Paper>
  );
}

/** Links to web pages; a parsed document loads and runs nothing. */
export function linksOf(html: string): MailLink[] {
  // Even an inert document asks the content security policy about styles.
  const unstyled = html
    .replaceAll(/<style\b.*?<\/style>/gis, '')
    .replaceAll(/\bstyle\s*=/gi, 'data-style=');
  const parsed = new DOMParser().parseFromString(unstyled, 'text/html');
  const anchors = parsed.querySelectorAll('a[href]');
  const links = new Map<string, MailLink>();
  for (const anchor of anchors) {
    const href = anchor.getAttribute('href') ?? '';
    if (!/^https?:$/.test(URL.parse(href)?.protocol ?? '')) continue;
    const label = (anchor.textContent ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, 200);
    // The same target may be shown again as an address.
    if (!links.has(href)) links.set(href, { href, label });
    if (links.size === maxLinks) break;
  }
  return [...links.values()];
}
