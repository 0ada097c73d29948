import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTransport } from 'nodemailer';
import { parse } from 'parse5';
import { clearInbox, readInbox } from '../../support/inbox-client.ts';
import { sendRequest } from '../../support/send-request.ts';
import { inboxHeaders } from '../../support/service-tokens.ts';
import { createTestDatabase } from '../../support/test-database.ts';
import { startTestService } from '../../support/test-service.ts';

const { url: databaseUrl } = await createTestDatabase();
const service = await startTestService({ databaseUrl });
const inbox = `${service.url}/inbox`;
const transport = createTransport({ host: '127.0.0.1', port: service.app.inboxPort(), pool: true });
after(() => transport.close());

async function send(mail: Parameters<typeof transport.sendMail>[0]): Promise<string> {
  await transport.sendMail({ from: 'shop@shop.test', to: 'reader@example.test', ...mail });
  const [newest] = await readInbox(service.url, '?limit=1');
  return newest?.id ?? '';
}

async function page(path: string): Promise<string> {
  const { status, text } = await sendRequest(`${inbox}${path}`, {
    headers: { accept: 'text/html', ...inboxHeaders },
  });
  assert.equal(status, 200, path);
  return text;
}

/** Names of all elements and attributes of a page, and the values of the attributes. */
function elementsOf(text: string): { tags: string[]; attributes: [string, string][] } {
  const tags: string[] = [];
  const attributes: [string, string][] = [];
  type Node = { tagName?: string; attrs?: { name: string; value: string }[]; childNodes?: Node[] };
  const waiting: Node[] = [parse(text) as unknown as Node];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.tagName !== undefined) tags.push(node.tagName);
    for (const { name, value } of node.attrs ?? []) attributes.push([name, value]);
    waiting.push(...(node.childNodes ?? []).toReversed());
  }
  return { tags, attributes };
}

/** Checks that the markup consists of the page's own elements; anything else came from a message. */
function assertTame(text: string, where: string): void {
  const { tags, attributes } = elementsOf(text);
  assert.deepEqual(tags.filter((tag) => tag === 'script').length, 1, where);
  for (const tag of ['img', 'object', 'embed', 'base', 'style', 'marquee', 'b'])
    assert.ok(!tags.includes(tag), `${where}: <${tag}>`);
  for (const [name, value] of attributes) {
    assert.doesNotMatch(name, /^on|^style$|^srcdoc$/, where);
    if (['href', 'src', 'action'].includes(name))
      assert.match(value, /^(?:\/inbox|\/brand\/|#main|https?:\/\/|mailto:|tel:)/, where);
  }
}

const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '" autofocus onfocus="alert(1)',
  '</title></textarea></pre><b>',
  `!$${'{'}alert(1)} <!-- ]]> &lt;b&gt;`,
  'javascript:alert(1)',
];

test('message content never becomes markup of the pages', async () => {
  for (const [index, payload] of hostile.entries()) {
    const id = await send({
      from: { name: payload, address: 'shop@shop.test' },
      to: { name: payload, address: `reader${index}@example.test` },
      cc: { name: payload, address: 'cc@example.test' },
      replyTo: { name: payload, address: 'reply@example.test' },
      subject: payload,
      text: `${payload} https://shop.test/${payload}`,
      html: `<p>${payload}</p><a href="javascript:alert(1)">${payload}</a><a href='https://shop.test/"><script>alert(1)</script>'>x</a>`,
      headers: { 'X-Hostile': payload },
      envelope: { from: 'shop@shop.test', to: `reader${index}@example.test` },
    });
    const found = `q=${encodeURIComponent(payload)}`;
    assertTame(await page(`?${found}`), `list, ${payload}`);
    for (const view of ['html', 'text', 'links', 'headers', 'source', 'other', payload]) {
      const path = `/messages/${id}?view=${encodeURIComponent(view)}&${found}`;
      assertTame(await page(path), `${view}, ${payload}`);
    }
  }
});

test('hostile text is shown literally', async () => {
  const subject = '<b>&amp; "quoted" \'single\' =';
  await send({ subject, text: 'x' });
  const text = await page('');
  assert.match(text, /&#60;b&#62;&#38;amp; &#34;quoted&#34; &#39;single&#39; &#61;/);
});

test('a page can load its own style, script and frame, and nothing else', async () => {
  const id = await send({ subject: 'policy', text: 'x', html: '<p>x</p>' });
  for (const path of ['', `/messages/${id}`]) {
    const { headers } = await sendRequest(`${inbox}${path}`, { headers: inboxHeaders });
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self'; font-src 'self'; script-src 'self'/,
    );
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /base-uri 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*|data:|https?:/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'same-origin');
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(headers.get('cache-control'), 'no-store');
  }
});

test('the HTML of a message is in a sandbox without scripts, forms and remote content', async () => {
  const id = await send({
    subject: 'frame',
    html: `<!doctype html><html><head><base href="https://evil.example/"><meta http-equiv="refresh" content="0;url=https://evil.example/">
      <link rel="dns-prefetch" href="//evil.example"><script>alert(1)</script></head>
      <body onload="alert(1)"><iframe src="https://evil.example"></iframe><object data="x"></object>
      <a href="https://shop.test/reset?a=1&amp;b=2" target="_top" ping="https://evil.example">Reset</a>
      <a href="javascript:alert(1)">no</a> <a href="/inbox/empty">relative</a><img src="https://evil.example/x.png"></body></html>`,
  });
  const { status, headers, text } = await sendRequest(`${inbox}/messages/${id}/html`, {
    headers: inboxHeaders,
  });
  assert.equal(status, 200);
  assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8/);
  assert.deepEqual((headers.get('content-security-policy') ?? '').split('; '), [
    'sandbox allow-popups allow-popups-to-escape-sandbox',
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    'img-src data:',
    'font-src data:',
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ]);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.get('x-dns-prefetch-control'), 'off');
  const { tags } = elementsOf(text);
  for (const tag of ['script', 'base', 'meta', 'link', 'iframe', 'object'])
    assert.ok(!tags.includes(tag), tag);
  assert.match(
    text,
    /<a href="https:\/\/shop\.test\/reset\?a=1&amp;b=2" target="_blank" rel="noopener noreferrer">Reset<\/a>/,
  );
  assert.match(text, /<a>no<\/a> <a>relative<\/a>/);
  const shown = await page(`/messages/${id}`);
  assert.match(
    shown,
    /<iframe [^>]*src="\/inbox\/messages\/[0-9a-f-]+\/html"[^>]* sandbox="allow-popups allow-popups-to-escape-sandbox" referrerpolicy="no-referrer">/,
  );
  assert.match(shown, /1 remote image not loaded/);
  const links = await page(`/messages/${id}?view=links`);
  assert.match(
    links,
    /href="https:\/\/shop\.test\/reset\?a&#61;1&#38;b&#61;2" target="_blank" rel="noopener noreferrer"/,
  );
  const leading = elementsOf(links).attributes.filter(
    ([name, value]) => name === 'href' && !/^\/(?:inbox|brand\/)/.test(value),
  );
  assert.deepEqual(leading, [
    ['href', '#main'],
    ['href', 'https://shop.test/reset?a=1&b=2'],
  ]);
});

const pixel = Buffer.from('\x89PNG\r\n\x1a\n and a picture', 'latin1');
const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

test('the inline images of a message are shown, but no drawings that could contain scripts', async () => {
  const id = await send({
    html: `<p style="background: url('cid:a@b')">Hello</p><img src="cid:a%40b"><img src="cid:draw"><img src="cid:none">`,
    attachments: [
      { filename: 'a.png', content: pixel, cid: 'a@b' },
      { filename: 'a.svg', content: drawing, contentType: 'image/svg+xml', cid: 'draw' },
    ],
  });
  const shown = await page(`/messages/${id}/html`);
  const url = `data:image/png;base64,${pixel.toString('base64')}`;
  assert.equal(shown.split(url).length, 3);
  assert.match(shown, /src="cid:draw"/);
  assert.match(shown, /src="cid:none"/);
  assert.doesNotMatch(shown, /svg/);
  const [mail] = await readInbox(service.url, '?limit=1');
  assert.match(mail?.html ?? '', /src="cid:a%40b"/);
});

test('HTML that repeats a large image is not shown with more than 32 MiB of images', async () => {
  const content = Buffer.concat([pixel, Buffer.alloc(3 * 1_024 * 1_024)]);
  const id = await send({
    html: '<img src="cid:a">'.repeat(1_000),
    attachments: [{ filename: 'a.png', content, cid: 'a' }],
  });
  const shown = await page(`/messages/${id}/html`);
  assert.equal(shown.split('data:image/png').length - 1, 7);
  assert.equal(shown.split('cid:a').length - 1, 993);
});

test('the source can be downloaded byte for byte', async () => {
  const id = await send({ subject: 'Größe', text: 'äöü' });
  const { headers, text } = await sendRequest(`${inbox}/messages/${id}/source`, {
    headers: inboxHeaders,
  });
  assert.equal(headers.get('content-type'), 'message/rfc822');
  assert.equal(headers.get('content-disposition'), `attachment; filename="${id}.eml"`);
  const [message] = await readInbox(service.url, '?limit=1');
  assert.equal(text, message?.source);
});

test('every tab has content, even if the message lacks that part', async () => {
  const plain = await send({ subject: 'plain', text: 'See https://shop.test/a_(b). Bye.' });
  assert.match(await page(`/messages/${plain}`), /<pre class="sheet sheet-text"/);
  assert.match(await page(`/messages/${plain}?view=html`), /has no HTML part/);
  assert.match(await page(`/messages/${plain}?view=links`), /href="https:\/\/shop\.test\/a_\(b\)"/);
  const bare = await send({ subject: 'bare', html: '<p>Hello' });
  assert.match(await page(`/messages/${bare}?view=text`), /has no plain-text part/);
  assert.match(await page(`/messages/${bare}?view=links`), /has no links/);
  const headers = await page(`/messages/${bare}?view=headers`);
  assert.match(headers, /<th scope="row">Subject<\/th><td>bare<\/td>/);
  assert.match(headers, /<th scope="row">RCPT TO<\/th><td>reader@example\.test<\/td>/);
});

test('a recipient that no header names is shown as such', async () => {
  const id = await send({
    subject: 'blind copy',
    text: 'x',
    to: 'reader@example.test',
    envelope: { from: 'shop@shop.test', to: ['reader@example.test', 'hidden@example.test'] },
  });
  const text = await page(`/messages/${id}`);
  assert.match(text, /<dt>Delivered to<\/dt><dd>hidden@example\.test<\/dd>/);
});

test('a missing message is a 404 with a link back', async () => {
  for (const id of ['01900000-0000-7000-8000-000000000000', 'x', '..%2f..', '%00']) {
    for (const path of ['', '/html', '/source']) {
      const { status, text } = await sendRequest(`${inbox}/messages/${id}${path}`, {
        headers: { accept: 'text/html', ...inboxHeaders },
      });
      assert.equal(status, 404, id + path);
      assert.match(text, /<a class="button" href="\/inbox">/);
    }
  }
});

test('style, font, script and icon have a content hash in their URL and are cached', async () => {
  const text = await page('');
  const urls = [...text.matchAll(/(?:href|src)="(\/(?:inbox\/assets|brand)\/[^"]+)"/g)].map(
    ([, url]) => url,
  );
  assert.deepEqual(
    urls.map((url) => url?.split('.').pop()),
    ['svg', 'woff2', 'css', 'css', 'js'],
  );
  for (const url of urls) {
    const { status, headers } = await sendRequest(`${service.url}${url}`);
    assert.equal(status, 200, url);
    assert.match(headers.get('cache-control') ?? '', /immutable/);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
  }
});

test('the button on the page empties the inbox and returns to it', async () => {
  await send({ subject: 'last', text: 'x' });
  const { status, headers } = await sendRequest(`${inbox}/empty`, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: service.url,
      ...inboxHeaders,
    },
    body: '',
  });
  assert.equal(status, 303);
  assert.equal(headers.get('location'), '/inbox');
  assert.match(await page(''), /No mail yet/);
});

test('open pages are notified of new and deleted mail', async () => {
  const aborter = new AbortController();
  const response = await fetch(`${inbox}/updates`, {
    signal: aborter.signal,
    headers: inboxHeaders,
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assert.ok(reader);
  let receivedText = '';
  const waitForEvent = async (what: RegExp) => {
    while (!what.test(receivedText)) receivedText += (await reader.read()).value ?? '';
  };
  await waitForEvent(/retry/);
  await send({ subject: 'live', text: 'x' });
  await waitForEvent(/event: arrived\ndata:\n\n/);
  await clearInbox(service.url);
  await waitForEvent(/event: emptied\ndata:\n\n/);
  aborter.abort();
});
