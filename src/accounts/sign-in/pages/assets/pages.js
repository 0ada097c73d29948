// The console waits in another window.
if (document.querySelector('[data-confirmed]') !== null) {
  new BroadcastChannel('signalpost-confirmed').postMessage('');
  close();
}

// Forms with a passkey: a click asks the browser for it, and its response goes into the form. SimpleWebAuthnBrowser comes
// before this script in the same file.
for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!SimpleWebAuthnBrowser.browserSupportsWebAuthn()) {
    for (const one of form.querySelectorAll('[data-unsupported]')) one.hidden = false;
    continue;
  }
  const optionsJSON = JSON.parse(form.dataset.options);
  const problem = form.querySelector('[data-problem]');
  const registers = form.dataset.passkey === 'register';
  const ceremony = registers
    ? SimpleWebAuthnBrowser.startRegistration
    : SimpleWebAuthnBrowser.startAuthentication;

  const send = (answer) => {
    form.elements.answer.value = JSON.stringify(answer);
    form.submit();
  };

  const explain = (error) => {
    const name = error?.cause?.name ?? error?.name;
    if (name === 'InvalidStateError') return 'This device already has a passkey for you.';
    if (name === 'NotAllowedError' || name === 'AbortError')
      return 'That was canceled or took too long. Try again.';
    return 'The browser couldn’t use a passkey. Try again, or use another device.';
  };

  const show = (text) => {
    problem.textContent = text;
    problem.hidden = text === '';
  };

  const { origin } = form.dataset;
  const openAtOrigin = () => {
    const link = document.createElement('a');
    link.className = `button ${form.querySelector('[data-start]').className}`;
    link.href = origin + location.pathname + location.search;
    link.textContent = 'Continue there';
    problem.className = 'note';
    problem.textContent = `Passkeys work only at ${origin}.`;
    problem.hidden = false;
    form.querySelector('[data-start]').replaceWith(link);
  };

  form.querySelector('[data-start]').addEventListener('click', async (event) => {
    event.preventDefault();
    if (location.origin !== origin) return openAtOrigin();
    if (!form.reportValidity()) return;
    show('');
    try {
      send(await ceremony({ optionsJSON }));
    } catch (error) {
      show(explain(error));
    }
  });
  form.hidden = false;
  for (const one of form.querySelectorAll('[data-supported]')) one.hidden = false;

  // Offers passkeys with the saved passwords of the address field.
  if (form.dataset.passkey === 'sign-in')
    SimpleWebAuthnBrowser.browserSupportsWebAuthnAutofill().then((supported) => {
      if (!supported) return;
      SimpleWebAuthnBrowser.startAuthentication({ optionsJSON, useBrowserAutofill: true }).then(
        send,
        () => undefined,
      );
    });
}
