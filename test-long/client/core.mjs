/**
 * The core of the client, for every runtime alike. The client is an argument because each runtime imports it in its own app.
 * @returns the ID of the message that it sent through a connection that was cut
 */
export async function runCore({ PersonalizationError, Signalpost, webhooks }, url, key) {
  const signalpost = new Signalpost({ url, key });
  const { messageId } = await signalpost.send('note', {
    to: 'ada@people.test',
    data: { Name: 'Ada' },
    attachments: [
      { filename: 'a.txt', contentType: 'text/plain', content: new TextEncoder().encode('één') },
    ],
  });
  const refused = await signalpost.send('note', { to: 'ada@people.test', data: {} }).then(
    () => undefined,
    (error) => error,
  );
  if (!(refused instanceof PersonalizationError) || refused.missing[0] !== 'Name')
    throw new Error(`the missing field isn't named: ${refused}`);

  const secret = `whsec_${btoa('a secret of enough bytes')}`;
  const event = { type: 'message.delivered', timestamp: '', data: { eventId: 'e-1', messageId } };
  const { headers, body } = await webhooks.sign(event, secret);
  const request = new Request('https://shop.test/hook', { method: 'POST', headers, body });
  const verified = await webhooks.verify(request, { secret });
  if (verified.data.messageId !== messageId) throw new Error('the event changed');
  const changed = await webhooks.verify({ headers, body: `${body} ` }, { secret }).then(
    () => 'verified',
    (error) => error.code,
  );
  if (changed !== 'WEBHOOK_VERIFICATION') throw new Error(`a changed body is ${changed}`);
  return messageId;
}
