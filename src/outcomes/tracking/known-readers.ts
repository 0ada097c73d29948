/** Who opened or clicked: a person, a mailbox provider's image proxy, or a link scanner. */
export type ReaderClass = 'person' | 'prefetch' | 'scanner';

/** A program known by its user agent. */
export interface KnownAgent {
  readonly name: string;
  readonly class: Exclude<ReaderClass, 'person'>;
  readonly agent: RegExp;
  /** Where its owner documents it, or where it was seen. */
  readonly source: string;
}

/** Networks that a program uses. */
export interface KnownNetwork {
  readonly name: string;
  readonly class: Exclude<ReaderClass, 'person'>;
  readonly for: 'opened' | 'clicked' | 'both';
  readonly networks: readonly string[];
  readonly source: string;
}

/** Checked in order; the first match names the reader. */
export const knownAgents: readonly KnownAgent[] = [
  {
    name: 'Gmail image proxy',
    class: 'prefetch',
    agent: /GoogleImageProxy/i,
    source:
      'support.google.com/a/answer/3299041 (image URL proxy); seen as "via ggpht.com GoogleImageProxy"',
  },
  {
    name: 'Yahoo image proxy',
    class: 'prefetch',
    agent: /YahooMailProxy/i,
    source: 'help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  },
  {
    name: 'Apple Mail Privacy Protection',
    class: 'prefetch',
    // The entire user agent; no browser sends so little.
    agent: /^Mozilla\/5\.0$/,
    source: 'support.apple.com/guide/mail (Protect Mail Activity); seen as the bare "Mozilla/5.0"',
  },
  {
    name: 'Gmail content sampling',
    class: 'scanner',
    agent: /Gmail-content-sampling/i,
    source: 'github.com/mssola/user_agent issue 71 and github.com/mautic/mautic issue 10245',
  },
  {
    name: 'Gmail image fetch',
    class: 'prefetch',
    agent: / Mozilla\/5\.0$/,
    source:
      'no browser names itself twice; seen at the moment of delivery, github.com/mautic/mautic issue 10245',
  },
  {
    name: 'link preview',
    class: 'scanner',
    agent:
      /facebookexternalhit|Slackbot|Slack-ImgProxy|Twitterbot|LinkedInBot|WhatsApp\/|TelegramBot|Discordbot|SkypeUriPreview|BingPreview|Microsoft Office Existence Discovery|Google-PageRenderer|Iframely|redditbot/i,
    source: 'the services’ developer pages on link previews, such as api.slack.com/robots',
  },
  {
    name: 'security gateway',
    class: 'scanner',
    agent:
      /barracuda|proofpoint|mimecast|symantec|messagelabs|ironport|fortiguard|forti(?:mail|sandbox)|sophos|trend ?micro|cloudmark|forcepoint|websense|zscaler|checkpoint|avanan|vade(?:secure)?|hornetsecurity|mailguard|bitdefender|kaspersky|urlscan|virustotal|safebrowsing|safelinks/i,
    source: 'product names in the gateways’ requests',
  },
  {
    name: 'search engine crawler',
    class: 'scanner',
    agent:
      /\b(?:googlebot|bingbot|yandex\w*bot|applebot|duckduckbot|baiduspider|slurp|petalbot|ahrefsbot|semrushbot)\b/i,
    source: 'developers.google.com/search/docs/crawling-indexing and the other engines’ pages',
  },
  {
    name: 'headless browser',
    class: 'scanner',
    agent: /HeadlessChrome|PhantomJS|Puppeteer|Playwright|Selenium|Electron\/.{0,200}scan/i,
    source: 'the browsers’ own default user agents',
  },
  {
    name: 'HTTP client',
    class: 'scanner',
    agent:
      /^(?:curl|wget|python|python-requests|python-urllib|aiohttp|httpx|go-http-client|java|okhttp|apache-httpclient|axios|node|node-fetch|undici|got|ruby|php|libwww-perl|lwp|perl|guzzlehttp|dart|rust|reqwest|winhttp|powershell)\b/i,
    source: 'the libraries’ default user agents',
  },
  {
    name: 'bot',
    class: 'scanner',
    agent:
      /\b(?:bot|crawler|spider|scanner|monitor|fetcher|checker|validator)\b|[a-z](?:bot|crawler|spider)[/;)]|\+https?:\/\//i,
    source: 'bots that name themselves or a page about themselves (RFC 9110 section 10.1.5)',
  },
];

/** Networks of programs that pose as browsers. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    name: 'Apple proxy',
    class: 'prefetch',
    for: 'opened',
    networks: ['17.0.0.0/8'],
    source: 'ARIN registration of Apple Inc.',
  },
  {
    name: 'Gmail image proxy',
    class: 'prefetch',
    for: 'opened',
    networks: ['66.102.0.0/20', '66.249.80.0/20', '74.125.0.0/16', '209.85.128.0/17'],
    source: '_spf.google.com and support.google.com/a/answer/60764 (Google’s address ranges)',
  },
  {
    name: 'Microsoft 365 link check',
    class: 'scanner',
    for: 'both',
    networks: [
      '40.92.0.0/15',
      '40.107.0.0/16',
      '52.100.0.0/14',
      '104.47.0.0/17',
      '2a01:111:f400::/48',
      '2a01:111:f403::/48',
    ],
    source:
      'learn.microsoft.com/microsoft-365/enterprise/urls-and-ip-address-ranges (Exchange Online, id 10)',
  },
  {
    name: 'Proofpoint',
    class: 'scanner',
    for: 'both',
    networks: [
      '67.231.144.0/20',
      '148.163.128.0/19',
      '185.132.180.0/22',
      '185.183.28.0/22',
      '205.220.160.0/19',
      '208.84.64.0/22',
      '208.86.200.0/22',
      '91.209.104.0/24',
    ],
    source: 'spf of pphosted.com and ARIN/RIPE registrations of Proofpoint, Inc.',
  },
  {
    name: 'Barracuda',
    class: 'scanner',
    for: 'both',
    networks: ['64.235.144.0/20', '209.222.80.0/21', '35.157.190.224/27'],
    source: 'campus.barracuda.com (Email Gateway Defense IP ranges)',
  },
  {
    name: 'Mimecast',
    class: 'scanner',
    for: 'both',
    networks: [
      '91.220.42.0/24',
      '146.101.78.0/24',
      '185.58.84.0/22',
      '195.130.217.0/24',
      '205.139.110.0/23',
      '207.211.30.0/23',
      '207.211.41.0/24',
      '213.167.75.0/24',
      '213.167.81.0/24',
    ],
    source: 'community.mimecast.com (data centers and IP addresses)',
  },
  {
    name: 'Symantec Email Security.cloud',
    class: 'scanner',
    for: 'both',
    networks: [
      '67.219.240.0/20',
      '85.158.136.0/21',
      '103.9.96.0/22',
      '117.120.16.0/21',
      '193.109.254.0/23',
      '194.106.220.0/23',
      '195.245.230.0/23',
      '216.82.240.0/20',
    ],
    source: 'knowledge.broadcom.com (Cloud security services IP ranges)',
  },
  {
    name: 'Cisco Secure Email',
    class: 'scanner',
    for: 'both',
    networks: ['68.232.128.0/19', '139.138.32.0/19', '216.71.128.0/19'],
    source: 'ARIN registrations of Cisco Systems IronPort Division',
  },
];
