import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRedirectUriProblem } from '../../../src/accounts/oauth/redirect-uri.ts';

test('RFC 8252 section 7: https, http on loopback and private schemes can be registered', () => {
  for (const uri of [
    'https://localhost/callback',
    'https://app.example/cb?tenant=1',
    'http://127.0.0.1/cb',
    'http://127.0.0.1:8080/cb',
    'http://[::1]/cb',
    'http://localhost:3000/cb',
    'com.example.app:/oauth',
  ])
    assert.equal(findRedirectUriProblem(uri), undefined, uri);
});

test('RFC 6749 section 3.1.2: everything else is rejected', () => {
  for (const uri of [
    '',
    '/callback',
    'localhost/callback',
    'http://app.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'https://app.example/cb#part',
    'https://app.example/c b',
    'https://app.example/cb\n',
    'https://user:secret@app.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
  ])
    assert.equal(typeof findRedirectUriProblem(uri), 'string', uri);
});
