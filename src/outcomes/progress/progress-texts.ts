import type { ReaderLanguage } from '../../base/values/reader-language.ts';

/**
 * A sentence for each state, for strangers: none says whether somebody has an account. `{provider}` is the domain of the recipient.
 */
const texts = {
  en: {
    waiting: 'Your email is on its way.',
    scheduled: 'Your email is scheduled for later.',
    paused: 'Your email is on hold at the sender.',
    greylisted: 'Your provider delays new senders, usually by a few minutes.',
    delayed: 'Your provider doesn’t take the email yet. It is tried again shortly.',
    'mailbox-full': 'Your mailbox is full. Delete something, and ask for a new email.',
    uncertain: 'Your email may have arrived already. Check your inbox and spam folder.',
    delivered: 'Handed to {provider}. If you don’t see it, check your spam folder.',
    sent: 'Your email was sent. If you don’t see it, check your spam folder.',
    'test-inbox': 'Your email is in the test inbox.',
    'no-mailbox': 'That mailbox doesn’t exist or is closed. Check the address.',
    'no-domain': 'That domain doesn’t accept email. Check the address.',
    rejected: 'A filter blocked the email. Use another address, or contact the sender.',
    'not-sent': 'Your email wasn’t sent. Ask for a new one, or contact the sender.',
    expired: 'No more news here. If your email hasn’t arrived, ask for a new one.',
  },
  de: {
    waiting: 'Ihre E-Mail ist unterwegs.',
    scheduled: 'Ihre E-Mail ist für später geplant.',
    paused: 'Ihre E-Mail wird vom Absender zurückgehalten.',
    greylisted: 'Ihr Anbieter verzögert neue Absender, meist um einige Minuten.',
    delayed: 'Ihr Anbieter nimmt die E-Mail noch nicht an. Gleich folgt der nächste Versuch.',
    'mailbox-full': 'Ihr Postfach ist voll. Löschen Sie etwas und fordern Sie eine neue E-Mail an.',
    uncertain: 'Ihre E-Mail ist vielleicht schon da. Sehen Sie auch im Spam-Ordner nach.',
    delivered: 'An {provider} übergeben. Nicht zu sehen? Schauen Sie in den Spam-Ordner.',
    sent: 'Ihre E-Mail wurde versendet. Nicht zu sehen? Schauen Sie in den Spam-Ordner.',
    'test-inbox': 'Ihre E-Mail liegt im Test-Posteingang.',
    'no-mailbox': 'Dieses Postfach gibt es nicht oder nicht mehr. Prüfen Sie die Adresse.',
    'no-domain': 'Diese Domain nimmt keine E-Mails an. Prüfen Sie die Adresse.',
    rejected: 'Ein Filter hat die E-Mail blockiert. Verwenden Sie eine andere Adresse.',
    'not-sent': 'Ihre E-Mail wurde nicht versendet. Fordern Sie eine neue an.',
    expired: 'Hier gibt es nichts Neues mehr. Nichts angekommen? Fordern Sie eine neue E-Mail an.',
  },
  fr: {
    waiting: 'Votre e-mail est en route.',
    scheduled: 'Votre e-mail est programmé pour plus tard.',
    paused: 'Votre e-mail est retenu par l’expéditeur.',
    greylisted: 'Votre fournisseur retarde les nouveaux expéditeurs, souvent de quelques minutes.',
    delayed: 'Votre fournisseur n’accepte pas encore l’e-mail. Nous réessayons sous peu.',
    'mailbox-full': 'Votre boîte est pleine. Libérez de la place et demandez un nouvel e-mail.',
    uncertain: 'Votre e-mail est peut-être déjà arrivé. Regardez aussi dans les indésirables.',
    delivered: 'Remis à {provider}. Si vous ne le voyez pas, regardez dans les indésirables.',
    sent: 'Votre e-mail a été envoyé. Si vous ne le voyez pas, regardez dans les indésirables.',
    'test-inbox': 'Votre e-mail est dans la boîte de test.',
    'no-mailbox': 'Cette boîte n’existe pas ou n’existe plus. Vérifiez l’adresse.',
    'no-domain': 'Ce domaine n’accepte pas d’e-mails. Vérifiez l’adresse.',
    rejected: 'Un filtre a bloqué l’e-mail. Utilisez une autre adresse.',
    'not-sent': 'Votre e-mail n’a pas été envoyé. Demandez-en un nouveau.',
    expired: 'Plus de nouvelles ici. Si votre e-mail n’est pas arrivé, demandez-en un nouveau.',
  },
  es: {
    waiting: 'Tu correo está en camino.',
    scheduled: 'Tu correo está programado para más tarde.',
    paused: 'El remitente ha retenido tu correo.',
    greylisted: 'Tu proveedor retrasa a los remitentes nuevos, normalmente unos minutos.',
    delayed: 'Tu proveedor aún no acepta el correo. Lo intentaremos de nuevo en breve.',
    'mailbox-full': 'Tu buzón está lleno. Borra algo y pide otro correo.',
    uncertain: 'Puede que tu correo ya haya llegado. Mira también en el correo no deseado.',
    delivered: 'Entregado a {provider}. Si no lo ves, mira en el correo no deseado.',
    sent: 'Tu correo se ha enviado. Si no lo ves, mira en el correo no deseado.',
    'test-inbox': 'Tu correo está en el buzón de pruebas.',
    'no-mailbox': 'Ese buzón no existe o está cerrado. Comprueba la dirección.',
    'no-domain': 'Ese dominio no acepta correo. Comprueba la dirección.',
    rejected: 'Un filtro ha bloqueado el correo. Usa otra dirección.',
    'not-sent': 'Tu correo no se ha enviado. Pide otro.',
    expired: 'Aquí ya no hay novedades. Si tu correo no ha llegado, pide otro.',
  },
} as const;

export type ProgressState = keyof (typeof texts)['en'];

export const progressStates = Object.keys(texts.en) as readonly ProgressState[];

/** The sentence for the person who waits. @param provider unknown once personal data is erased */
export function progressText(
  state: ProgressState,
  language: ReaderLanguage,
  provider?: string | null,
): string {
  const shown = state === 'delivered' && !provider ? 'sent' : state;
  return texts[language][shown].replace('{provider}', () => provider ?? '');
}
