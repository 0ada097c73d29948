// Shows the buttons that copy what their place names, where the browser can.
if (navigator.clipboard !== undefined)
  for (const place of document.querySelectorAll('[data-copy]')) {
    const button = place.querySelector('button');
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(place.dataset.copy);
      button.textContent = 'Copied';
    });
  }
