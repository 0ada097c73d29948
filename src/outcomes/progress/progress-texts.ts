/**
 * A sentence for each state, for strangers: none says whether somebody has an account. `{provider}` is the domain of the recipient.
 * The states of the English ones are those of the others.
 */
const english = {
  waiting: 'Your email is on its way.',
  scheduled: 'Your email is scheduled for later.',
  paused: 'Your email is on hold at the sender.',
  sending: 'Your email is being delivered.',
  greylisted: 'Your provider delays new senders, usually by a few minutes.',
  'provider-busy': 'Your provider is busy. Your email is tried again shortly.',
  unreachable: 'Your provider can’t be reached right now. Your email is tried again shortly.',
  delayed: 'Your provider delays the email. It is tried again shortly.',
  uncertain: 'Your email may have arrived already. Check your inbox and spam folder.',
  delivered: 'Handed to {provider}. If you don’t see it, check your spam folder.',
  sent: 'Your email was sent. If you don’t see it, check your spam folder.',
  'test-inbox': 'Your email is in the test inbox.',
  'no-mailbox': 'That mailbox doesn’t exist. Check the address.',
  'no-domain': 'That domain doesn’t accept email. Check the address.',
  'mailbox-disabled': 'That mailbox is disabled. Use another address.',
  'mailbox-full':
    'Your mailbox is full. Delete something, and ask for a new email if this one doesn’t arrive.',
  blocked: 'A spam filter blocked the email. Use another address, or contact the sender.',
  rejected: 'The email was rejected. Use another address, or contact the sender.',
  'not-sent': 'Your email wasn’t sent. Ask for a new one, or contact the sender.',
  expired: 'There is no more news here. If your email hasn’t arrived, ask for a new one.',
} as const;

export type ProgressState = keyof typeof english;

export const progressStates = Object.keys(english) as readonly ProgressState[];

type Texts = Readonly<Record<ProgressState, string>>;

const texts = {
  en: english,
  de: {
    waiting: 'Ihre E-Mail ist unterwegs.',
    scheduled: 'Ihre E-Mail ist für später geplant.',
    paused: 'Ihre E-Mail wird vom Absender zurückgehalten.',
    sending: 'Ihre E-Mail wird gerade zugestellt.',
    greylisted: 'Ihr Anbieter verzögert neue Absender, meist um einige Minuten.',
    'provider-busy': 'Ihr Anbieter ist ausgelastet. Wir versuchen es gleich noch einmal.',
    unreachable: 'Ihr Anbieter ist gerade nicht erreichbar. Wir versuchen es gleich noch einmal.',
    delayed: 'Ihr Anbieter verzögert die E-Mail. Wir versuchen es gleich noch einmal.',
    uncertain:
      'Ihre E-Mail ist vielleicht schon da. Sehen Sie im Posteingang und im Spam-Ordner nach.',
    delivered:
      'An {provider} übergeben. Falls Sie sie nicht sehen: Schauen Sie in den Spam-Ordner.',
    sent: 'Ihre E-Mail wurde versendet. Falls Sie sie nicht sehen: Schauen Sie in den Spam-Ordner.',
    'test-inbox': 'Ihre E-Mail liegt im Test-Posteingang.',
    'no-mailbox': 'Dieses Postfach gibt es nicht. Prüfen Sie die Adresse.',
    'no-domain': 'Diese Domain nimmt keine E-Mails an. Prüfen Sie die Adresse.',
    'mailbox-disabled': 'Dieses Postfach ist deaktiviert. Verwenden Sie eine andere Adresse.',
    'mailbox-full':
      'Ihr Postfach ist voll. Löschen Sie etwas und fordern Sie eine neue E-Mail an, falls diese nicht ankommt.',
    blocked:
      'Ein Spam-Filter hat die E-Mail blockiert. Verwenden Sie eine andere Adresse, oder wenden Sie sich an den Absender.',
    rejected:
      'Die E-Mail wurde abgelehnt. Verwenden Sie eine andere Adresse, oder wenden Sie sich an den Absender.',
    'not-sent':
      'Ihre E-Mail wurde nicht versendet. Fordern Sie eine neue an, oder wenden Sie sich an den Absender.',
    expired:
      'Hier gibt es nichts Neues mehr. Falls Ihre E-Mail nicht da ist, fordern Sie eine neue an.',
  },
  fr: {
    waiting: 'Votre e-mail est en route.',
    scheduled: 'Votre e-mail est programmé pour plus tard.',
    paused: 'Votre e-mail est retenu par l’expéditeur.',
    sending: 'Votre e-mail est en cours de remise.',
    greylisted:
      'Votre fournisseur retarde les nouveaux expéditeurs, en général de quelques minutes.',
    'provider-busy': 'Votre fournisseur est surchargé. Nous réessayons sous peu.',
    unreachable: 'Votre fournisseur est injoignable pour le moment. Nous réessayons sous peu.',
    delayed: 'Votre fournisseur retarde l’e-mail. Nous réessayons sous peu.',
    uncertain:
      'Votre e-mail est peut-être déjà arrivé. Regardez dans la boîte de réception et les indésirables.',
    delivered: 'Remis à {provider}. Si vous ne le voyez pas, regardez dans les indésirables.',
    sent: 'Votre e-mail a été envoyé. Si vous ne le voyez pas, regardez dans les indésirables.',
    'test-inbox': 'Votre e-mail est dans la boîte de test.',
    'no-mailbox': 'Cette boîte n’existe pas. Vérifiez l’adresse.',
    'no-domain': 'Ce domaine n’accepte pas d’e-mails. Vérifiez l’adresse.',
    'mailbox-disabled': 'Cette boîte est désactivée. Utilisez une autre adresse.',
    'mailbox-full':
      'Votre boîte est pleine. Libérez de la place, et demandez un nouvel e-mail si celui-ci n’arrive pas.',
    blocked:
      'Un filtre antispam a bloqué l’e-mail. Utilisez une autre adresse, ou contactez l’expéditeur.',
    rejected: 'L’e-mail a été refusé. Utilisez une autre adresse, ou contactez l’expéditeur.',
    'not-sent':
      'Votre e-mail n’a pas été envoyé. Demandez-en un nouveau, ou contactez l’expéditeur.',
    expired:
      'Il n’y a plus de nouvelles ici. Si votre e-mail n’est pas arrivé, demandez-en un nouveau.',
  },
  es: {
    waiting: 'Tu correo está en camino.',
    scheduled: 'Tu correo está programado para más tarde.',
    paused: 'El remitente ha retenido tu correo.',
    sending: 'Tu correo se está entregando.',
    greylisted: 'Tu proveedor retrasa a los remitentes nuevos, normalmente unos minutos.',
    'provider-busy': 'Tu proveedor está saturado. Lo intentaremos de nuevo en breve.',
    unreachable: 'No se puede contactar con tu proveedor. Lo intentaremos de nuevo en breve.',
    delayed: 'Tu proveedor retrasa el correo. Lo intentaremos de nuevo en breve.',
    uncertain:
      'Puede que tu correo ya haya llegado. Mira en la bandeja de entrada y en el correo no deseado.',
    delivered: 'Entregado a {provider}. Si no lo ves, mira en el correo no deseado.',
    sent: 'Tu correo se ha enviado. Si no lo ves, mira en el correo no deseado.',
    'test-inbox': 'Tu correo está en el buzón de pruebas.',
    'no-mailbox': 'Ese buzón no existe. Comprueba la dirección.',
    'no-domain': 'Ese dominio no acepta correo. Comprueba la dirección.',
    'mailbox-disabled': 'Ese buzón está desactivado. Usa otra dirección.',
    'mailbox-full': 'Tu buzón está lleno. Borra algo y pide otro correo si este no llega.',
    blocked:
      'Un filtro de correo no deseado ha bloqueado el correo. Usa otra dirección o contacta con el remitente.',
    rejected: 'El correo ha sido rechazado. Usa otra dirección o contacta con el remitente.',
    'not-sent': 'Tu correo no se ha enviado. Pide otro o contacta con el remitente.',
    expired: 'Aquí ya no hay novedades. Si tu correo no ha llegado, pide otro.',
  },
} satisfies Readonly<Record<string, Texts>>;

export type ProgressLanguage = keyof typeof texts;

const progressLanguages = Object.keys(texts) as readonly ProgressLanguage[];

const maxPreferences = 200;

/**
 * The first language that has texts, otherwise English.
 * @param preferences in the form of Accept-Language (RFC 9110 section 12.5.4), whose order counts
 */
export function pickProgressLanguage(preferences: string): ProgressLanguage {
  const wanted = preferences
    .slice(0, maxPreferences)
    .split(',')
    .map((range) => range.trim().split(/[-;]/, 1)[0]?.toLowerCase());
  const found = wanted.find((name) => progressLanguages.some((known) => known === name));
  return (found as ProgressLanguage | undefined) ?? 'en';
}

/** The sentence for the person who waits. */
export function progressText(
  state: ProgressState,
  language: ProgressLanguage,
  provider: string | undefined,
): string {
  // Once personal data is erased, nobody knows the domain.
  const shown = state === 'delivered' && provider === undefined ? 'sent' : state;
  return texts[language][shown].replace('{provider}', () => provider ?? '');
}
