// Shows and hides what is typed into a password field.
for (const button of document.querySelectorAll('[data-reveal]')) {
  const input = document.getElementById(button.dataset.reveal);
  button.hidden = false;
  button.addEventListener('click', () => {
    const isShown = input.type === 'text';
    input.type = isShown ? 'password' : 'text';
    button.textContent = isShown ? 'Show' : 'Hide';
    input.focus();
  });
}
