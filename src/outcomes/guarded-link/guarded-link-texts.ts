/** Title and text of a page; `{host}` is where the link leads, `{account}` who sent the message. */
type PageTexts = readonly [title: string, text?: string];

/** The pages of guarded links in one language. */
interface GuardedLinkTexts extends Readonly<Record<GuardedLinkPage, PageTexts>> {
  readonly button: string;
  readonly unasked: string;
  /** The text of a link that works no longer. */
  readonly again: string;
}

/** What a link does, for its reader. */
export type GuardedLinkPage = 'open' | 'expired' | 'ended' | 'incomplete' | 'unavailable';

const english: GuardedLinkTexts = {
  open: [
    'Continue to {host}',
    'This link is from a message that {account} sent you. It may work only once, so it opens when you press the button.',
  ],
  button: 'Continue',
  unasked: 'Didn’t ask for this message? Close this page. Nothing happens.',
  again: 'Go back to where you asked for the message, and ask for a new one.',
  expired: ['This link has expired'],
  ended: ['This link no longer works'],
  incomplete: [
    'Incomplete link',
    'Your email app may have cut it off. Open the message again, and copy the whole link.',
  ],
  unavailable: [
    'Try again in a minute',
    'We can’t check this link right now. It isn’t used up: reload this page in a minute.',
  ],
};

const german: GuardedLinkTexts = {
  open: [
    'Weiter zu {host}',
    'Dieser Link stammt aus einer Nachricht von {account}. Er funktioniert vielleicht nur einmal und öffnet sich deshalb erst, wenn Sie die Schaltfläche drücken.',
  ],
  button: 'Weiter',
  unasked:
    'Sie haben die Nachricht nicht angefordert? Schließen Sie diese Seite. Es passiert nichts.',
  again:
    'Gehen Sie dorthin zurück, wo Sie die Nachricht angefordert haben, und fordern Sie eine neue an.',
  expired: ['Dieser Link ist abgelaufen'],
  ended: ['Dieser Link funktioniert nicht mehr'],
  incomplete: [
    'Unvollständiger Link',
    'Vielleicht hat Ihr E-Mail-Programm ihn abgeschnitten. Öffnen Sie die Nachricht noch einmal und kopieren Sie den ganzen Link.',
  ],
  unavailable: [
    'Versuchen Sie es in einer Minute noch einmal',
    'Dieser Link lässt sich gerade nicht prüfen. Er ist nicht verbraucht: Laden Sie diese Seite in einer Minute neu.',
  ],
};

const french: GuardedLinkTexts = {
  open: [
    'Continuer vers {host}',
    'Ce lien vient d’un message que {account} vous a envoyé. Il ne fonctionne peut-être qu’une seule fois : il s’ouvre donc quand vous appuyez sur le bouton.',
  ],
  button: 'Continuer',
  unasked: 'Vous n’avez pas demandé ce message ? Fermez cette page. Rien ne se passe.',
  again: 'Retournez là où vous avez demandé le message et demandez-en un nouveau.',
  expired: ['Ce lien a expiré'],
  ended: ['Ce lien ne fonctionne plus'],
  incomplete: [
    'Lien incomplet',
    'Votre messagerie l’a peut-être coupé. Rouvrez le message et copiez le lien en entier.',
  ],
  unavailable: [
    'Réessayez dans une minute',
    'Ce lien ne peut pas être vérifié pour le moment. Il n’a pas été utilisé : rechargez cette page dans une minute.',
  ],
};

const spanish: GuardedLinkTexts = {
  open: [
    'Continuar a {host}',
    'Este enlace es de un mensaje que le envió {account}. Puede que funcione una sola vez, por eso se abre cuando pulsa el botón.',
  ],
  button: 'Continuar',
  unasked: '¿No pidió este mensaje? Cierre esta página. No pasa nada.',
  again: 'Vuelva al lugar donde pidió el mensaje y pida uno nuevo.',
  expired: ['Este enlace ha caducado'],
  ended: ['Este enlace ya no funciona'],
  incomplete: [
    'Enlace incompleto',
    'Puede que su programa de correo lo haya cortado. Abra el mensaje de nuevo y copie el enlace completo.',
  ],
  unavailable: [
    'Inténtelo de nuevo en un minuto',
    'Ahora no podemos comprobar este enlace. No se ha gastado: vuelva a cargar esta página en un minuto.',
  ],
};

const languages = { en: english, de: german, fr: french, es: spanish } as const;

/** The texts for the first locale that has some, and their language. @param locale BCP 47, separated by commas, as in Accept-Language */
export function guardedLinkTexts(locale: string) {
  for (const range of locale.split(',', 10)) {
    const language = /^[a-z]{2}(?![a-z])/i.exec(range.trim())?.[0].toLowerCase() ?? '';
    if (Object.hasOwn(languages, language))
      return { language, texts: languages[language as keyof typeof languages] };
  }
  return { language: 'en', texts: english };
}
