import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { renderMessage } from '../../../src/content/rendering/render-message.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { loadSource } from '../../support/render-template.ts';

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

const template = await loadSource({
  subject: 's',
  html: `<!doctype html><html><head><title>{{A}}</title></head><body>
    <p id="text">{{A}}</p><p id="attribute" title="{{A}}" class='{{A}}'>x</p>
    <p id="section">{{#A}}[{{A}}]{{/A}}{{^A}}none{{/A}}</p>
    <a id="whole" href="{{A}}">x</a><a id="part" href="https://shop.test/{{A}}?q={{A}}#{{A}}">x</a>
    <a id="mail" href='mailto:x@shop.test?subject={{A}}'>x</a>
    <p id="style" style="color:{{A}};margin:0">x</p>
    <p id="image" style="background:url('https://shop.test/{{A}}');margin:0">x</p>
    <!--[if mso]><p title="{{A}}">{{A}}</p><![endif]-->
    </body></html>`,
});

function elements(node: Node): Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap(elements) : [];
  return 'tagName' in node ? [node, ...children] : children;
}

/** Elements and attribute names, which no value may change. */
function shape(html: string): string {
  return elements(parse(html))
    .map(({ tagName, attrs }) => `${tagName}[${attrs.map(({ name }) => name).join()}]`)
    .join(' ');
}

function attribute(html: string, id: string, name: string): string {
  const found = elements(parse(html)).find(({ attrs }) =>
    attrs.some((a) => a.name === 'id' && a.value === id),
  );
  return found?.attrs.find((a) => a.name === name)?.value ?? '';
}

function textOf(html: string, id: string): string {
  const found = elements(parse(html)).find(({ attrs }) =>
    attrs.some((a) => a.name === 'id' && a.value === id),
  );
  return (
    found?.childNodes.map((node) => ('value' in node ? node.value : '<element>')).join('') ?? ''
  );
}

function render(value: string): string {
  return renderMessage(template, { values: { A: value } }).html ?? '';
}

const safe = shape(render('x'));
const normal = (value: string): string => value.replace(/\r\n?/g, '\n');

test('no value changes the structure of the HTML', () => {
  fc.assert(
    fc.property(hostileText(), (value) => {
      assert.equal(shape(render(value)), safe);
    }),
  );
});

test('text and attributes contain exactly the value', () => {
  fc.assert(
    fc.property(hostileText(), (value) => {
      const html = render(value);
      const shown = normal(value);
      assert.equal(textOf(html, 'text'), shown);
      assert.equal(attribute(html, 'attribute', 'title'), shown);
      assert.equal(attribute(html, 'attribute', 'class'), shown);
      assert.equal(textOf(html, 'section'), shown === '' ? 'none' : `[${shown}]`);
    }),
  );
});

test('a link from a value is http, https or mailto, or empty', () => {
  const schemes = ['https://', 'HTTP://', 'mailto:', 'javascript:', 'data:', '//', ''];
  // The library's own URLs list all code points, which takes seconds.
  const url = fc
    .tuple(fc.constantFrom(...schemes), fc.domain(), hostileText(10))
    .map(
      ([scheme, host, text]) => `${scheme}${host}/?q=${encodeURIComponent(text.toWellFormed())}`,
    );
  fc.assert(
    fc.property(fc.oneof(hostileText(3), url), (value) => {
      const href = attribute(render(value), 'whole', 'href');
      if (href === '') return;
      assert.match(new URL(href).protocol, /^(https?|mailto):$/);
      assert.doesNotMatch(href, /[\s\p{Cc}]/u);
    }),
  );
});

test('a value within a URL stays in its component and can be decoded', () => {
  fc.assert(
    fc.property(hostileText(), (value) => {
      const url = new URL(attribute(render(value), 'part', 'href'));
      const shown = normal(value);
      assert.equal(url.origin, 'https://shop.test');
      // URL parsing removes the values `.` and `..` from a path, which still stays on the host.
      if (shown !== '.' && shown !== '..')
        assert.equal(decodeURIComponent(url.pathname), `/${shown}`);
      assert.equal(decodeURIComponent(url.search), shown === '' ? '?q=' : `?q=${shown}`);
      assert.equal(decodeURIComponent(url.hash), shown === '' ? '' : `#${shown}`);
      const mail = new URL(attribute(render(value), 'mail', 'href'));
      assert.deepEqual(
        [mail.protocol, mail.pathname, [...mail.searchParams.keys()]],
        ['mailto:', 'x@shop.test', ['subject']],
      );
    }),
  );
});

test("a value in a style can't start another declaration, function or URL", () => {
  fc.assert(
    fc.property(hostileText(4), (value) => {
      const html = render(value);
      const style = attribute(html, 'style', 'style');
      assert.match(style, /^color:[^;:(){}"'\\/<>*@!]*;margin:0$/);
      const image = attribute(html, 'image', 'style');
      assert.match(image, /^background:url\('https:\/\/shop\.test\/[^'"()\\\s]*'\);margin:0$/);
    }),
  );
});

const item = `<p id="text">{{A}}</p><p id="attribute" title="{{A}}" class='{{A}}'>x</p>
  {{#A}}[{{A}}]{{/A}}{{^A}}none{{/A}}<a href="{{A}}">x</a><a href="https://shop.test/{{A}}?q={{A}}#{{A}}">x</a>
  <p style="color:{{A}};background:url('https://shop.test/{{A}}')">x</p>{{{A}}}<!--[if mso]><p title="{{A}}">{{A}}</p><![endif]-->`;
const outside = await loadSource({ subject: '{{A}}', previewText: '{{A}}', html: item });
const inside = await loadSource({
  subject: '{{#L}}{{A}}{{/L}}',
  previewText: '{{#L}}{{#O}}{{A}}{{/O}}{{/L}}',
  html: `{{#L}}${item}{{/L}}{{#L}}{{#O}}${item}{{/O}}{{/L}}`,
  // A text without words would be derived from the HTML.
  text: '{{#L}}{{A}}{{/L}}.',
  fields: { L: { kind: 'list', fields: { O: { kind: 'object' } } } },
});

test('a value in an item of a list is escaped as it is outside of lists, at every place', () => {
  fc.assert(
    fc.property(fc.array(hostileText(), { minLength: 1, maxLength: 3 }), (values) => {
      const whole = values.map((A) => renderMessage(outside, { values: { A } }));
      const L = values.map((A) => ({ A, O: { A } }));
      const mail = renderMessage(inside, { values: { L } });
      const bodies = whole.map(({ html }) => withoutPreview(html ?? ''));
      assert.equal(withoutPreview(mail.html ?? ''), [...bodies, ...bodies].join(''));
      assert.equal(mail.text, `${values.map(normal).join('')}.`);
      assert.doesNotMatch(mail.subject, /[\p{Cc}\u2028\u2029]/u);
    }),
  );
});

/** The preview text is at the start of the body. */
function withoutPreview(html: string): string {
  return html.replace(/^<div style="display:none[\s\S]*?<\/div>/, '');
}
