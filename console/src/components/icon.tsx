/** Line icons on a 24 px grid, in the current text color. */
const paths = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z',
  messages: 'M3 6h18v12H3zM3.500 6.500 12 13l8.500-6.500',
  scheduled: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2',
  templates: 'M6 3h8l4 4v14H6zM14 3v4h4M9 12h6M9 16h6',
  senders: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 20c1-4 4-6 8-6s7 2 8 6',
  integrations: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  keys: 'M8 19a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM11.200 11.300 20 3M16 7l3 3M13.500 9.500l2 2',
  lists: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  suppressions: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM6 6l12 12',
  webhooks: 'M13 3 5 14h6l-1 7 8-11h-6z',
  outboxes:
    'M12 10c4 0 7-1.300 7-3s-3-3-7-3-7 1.300-7 3 3 3 7 3zM5 7v10c0 1.700 3 3 7 3M19 7v5M14 18h7M18 15l3 3-3 3',
  domains: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM3 12h18M12 3c3 3 3 15 0 18M12 3c-3 3-3 15 0 18',
  destinations: 'M5 12h14M13 6l6 6-6 6',
  reports: 'M4 20V4M4 20h16M8 16v-5M12 16V8M16 16v-8',
  team: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2 20c.5-4 3-6 7-6s6.500 2 7 6M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14.500c2.500.8 3.700 2.700 4 5.500',
  audit: 'M5 3h14v18l-3-2-2 2-2-2-2 2-2-2-3 2zM9 8h6M9 12h6',
  settings: 'M4 7h10M18 7h2M4 17h2M10 17h10M14 4v6M6 14v6',
  server: 'M4 4h16v7H4zM4 13h16v7H4z',
  inbox: 'M3 13 6 4h12l3 9v7H3zM3 13h5l1.500 3h5L16 13h5',
  smtp: 'M3 6h18v12H3zM7 12h9M13 9l3 3-3 3',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'm5 12 5 5L20 7',
  sun: 'M12 17a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.400 1.400M17.600 17.600 19 19M5 19l1.400-1.400M17.600 6.400 19 5',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z',
  warning: 'M12 3 2 20h20zM12 9v5M12 17v.01',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3',
  plus: 'M12 5v14M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  down: 'm6 9 6 6 6-6',
  privacy: 'M12 3 5 6v6c0 4 3 7 7 9 4-2 7-5 7-9V6z',
  leave: 'M10 4H5v16h5M15 8l4 4-4 4M19 12H9',
  braces:
    'M9 4c-3 0-3 2-3 4s0 4-3 4c3 0 3 2 3 4s0 4 3 4M15 4c3 0 3 2 3 4s0 4 3 4c-3 0-3 2-3 4s0 4-3 4',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4',
} as const;

export type IconName = keyof typeof paths;

/** Decorative: next to text or inside a labeled control. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      viewBox="0 0 24 24"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      // Dots need more weight than lines.
      strokeWidth={name === 'more' ? 3 : 1.8}
      strokeLinecap="round"
      strokeLinejoin="round"
      className="icon"
      aria-hidden="true"
      focusable="false"
    >
      <path d={paths[name]} />
    </svg>
  );
}
