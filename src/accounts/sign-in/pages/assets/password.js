// Says while typing how easy a new password is to guess. The libraries and `rules` come before this script in the same file;
// nothing leaves the browser until the form is sent.
const { ZxcvbnFactory } = zxcvbnts.core;
const { adjacencyGraphs, dictionary } = zxcvbnts['language-common'];
const zxcvbn = new ZxcvbnFactory({
  dictionary,
  graphs: adjacencyGraphs,
  maxLength: rules.judgedLength,
});

for (const input of document.querySelectorAll('[data-strength]')) {
  const shown = document.getElementById(input.dataset.strength);
  const personal = JSON.parse(input.dataset.personal);
  input.addEventListener('input', () => {
    delete shown.dataset.judged;
    const missing = rules.minLength - [...input.value].length;
    if (input.value === '') shown.textContent = rules.hint;
    else if (missing > 0)
      shown.textContent = `${missing} more character${missing === 1 ? '' : 's'}.`;
    else {
      const { score, feedback } = zxcvbn.check(input.value, personal);
      shown.dataset.judged = score < rules.minScore ? 'weak' : 'good';
      shown.textContent =
        score < rules.minScore
          ? `Too easy to guess. ${rules.reasons[feedback.warning ?? ''] ?? rules.reasons['']} ${rules.advice}`
          : ['Hard to guess.', 'Very hard to guess.'][score >= 4 ? 1 : 0];
    }
  });
}
