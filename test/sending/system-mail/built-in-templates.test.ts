import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  locales,
  securityEvents,
  systemMailKinds,
} from '../../../src/accounts/notices/system-mail.ts';
import { compileVersion } from '../../../src/content/template/compile-version.ts';
import { builtInTemplate } from '../../../src/sending/system-mail/built-in-templates.ts';
import {
  endSessionsField,
  hasLink,
  linkField,
  mailFields,
} from '../../../src/sending/system-mail/mail-fields.ts';
import { mailValues } from '../../../src/sending/system-mail/mail-values.ts';

const mail = { toAddress: 'ann@shop.test', createdAt: new Date(0), name: 'Ann', collected: [] };
const facts = { event: 'password-changed', role: 'owner' };

for (const locale of locales) {
  test(`every email in ${locale} compiles, uses its link in every part, and has a value for each field`, async () => {
    for (const kind of systemMailKinds) {
      const { compiled, problems } = await compileVersion({
        source: builtInTemplate(kind, locale),
      });
      assert.deepEqual(problems, [], kind);
      assert.ok(compiled?.html && compiled.text);
      const values = mailValues({ ...mail, kind, facts }, locale, 'https://mail.test');
      for (const { name, secret, parts } of compiled.fields) {
        assert.ok(Object.hasOwn(mailFields[kind], name), `${kind} ${name}`);
        assert.equal(secret, name === linkField || name === endSessionsField, name);
        // The links are added when a mail is sent.
        if (!secret) assert.ok(Object.hasOwn(values, name), `${kind} ${name}`);
        else assert.deepEqual([...parts].sort(), ['html', 'text']);
      }
      assert.equal(
        compiled.fields.some(({ name }) => name === linkField),
        hasLink(kind),
      );
    }
  });

  test(`every security notice in ${locale} says what happened, with every name filled in`, () => {
    const named = {
      who: 'bob@shop.test',
      account: 'Shop {{Who}}',
      accountId: '46100',
      keyName: 'Deploy',
    };
    for (const event of securityEvents) {
      const notice = { ...mail, kind: 'security-notice', facts: { ...named, event } } as const;
      const values = mailValues(notice, locale, 'https://mail.test');
      assert.ok((values.Subject ?? '').length > 5);
      const whatHappened = values['What Happened'] ?? '';
      // Those who get it don't know who changed it.
      if (!event.endsWith('-address-changed'))
        assert.match(whatHappened, /ann@shop\.test|bob@shop\.test/, event);
      assert.doesNotMatch(whatHappened.replace('Shop {{Who}}', ''), /\{\{|undefined/, event);
      const facts = { ...named, event, about: 'eve@shop.test' };
      const other = mailValues({ ...notice, facts }, locale, 'https://mail.test');
      assert.doesNotMatch(`${other.Subject}`, /@/);
      assert.match(`${other['What Happened']}`, /eve@shop\.test .*46100/);
    }
  });
}
