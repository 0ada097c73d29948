/** The texts of a page; `{host}` is where the link leads, `{account}` who sent the message. */
interface PageTexts {
  readonly title: string;
  readonly text: string;
}

/** The pages of guarded links in one language. */
interface GuardedLinkTexts {
  readonly open: PageTexts & { readonly button: string; readonly unasked: string };
  readonly expired: PageTexts;
  readonly ended: PageTexts;
  readonly incomplete: PageTexts;
  readonly unavailable: PageTexts;
}

/** What a link does, for its reader. */
export type GuardedLinkPage = keyof GuardedLinkTexts;

const english: GuardedLinkTexts = {
  open: {
    title: 'Continue to {host}',
    text: 'This link is from a message that {account} sent you. It may work only once, so it opens when you press the button.',
    button: 'Continue',
    unasked: 'Didn’t ask for this message? Close this page. Nothing happens.',
  },
  expired: {
    title: 'This link has expired',
    text: 'Go back to where you asked for the message, and ask for a new one.',
  },
  ended: {
    title: 'This link no longer works',
    text: 'Its sender ended it. Go back to where you asked for the message, and ask for a new one.',
  },
  incomplete: {
    title: 'Incomplete link',
    text: 'Your email app may have cut it off. Open the message again, and copy the whole link.',
  },
  unavailable: {
    title: 'Try again in a minute',
    text: 'We can’t check this link right now. It isn’t used up: reload this page in a minute.',
  },
};

const german: GuardedLinkTexts = {
  open: {
    title: 'Weiter zu {host}',
    text: 'Dieser Link stammt aus einer Nachricht von {account}. Er funktioniert vielleicht nur einmal und öffnet sich deshalb erst, wenn Sie die Schaltfläche drücken.',
    button: 'Weiter',
    unasked:
      'Sie haben die Nachricht nicht angefordert? Schließen Sie diese Seite. Es passiert nichts.',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    text: 'Gehen Sie dorthin zurück, wo Sie die Nachricht angefordert haben, und fordern Sie eine neue an.',
  },
  ended: {
    title: 'Dieser Link funktioniert nicht mehr',
    text: 'Der Absender hat ihn beendet. Gehen Sie dorthin zurück, wo Sie die Nachricht angefordert haben, und fordern Sie eine neue an.',
  },
  incomplete: {
    title: 'Unvollständiger Link',
    text: 'Vielleicht hat Ihr E-Mail-Programm ihn abgeschnitten. Öffnen Sie die Nachricht noch einmal und kopieren Sie den ganzen Link.',
  },
  unavailable: {
    title: 'Versuchen Sie es in einer Minute noch einmal',
    text: 'Dieser Link lässt sich gerade nicht prüfen. Er ist nicht verbraucht: Laden Sie diese Seite in einer Minute neu.',
  },
};

const french: GuardedLinkTexts = {
  open: {
    title: 'Continuer vers {host}',
    text: 'Ce lien vient d’un message que {account} vous a envoyé. Il ne fonctionne peut-être qu’une seule fois : il s’ouvre donc quand vous appuyez sur le bouton.',
    button: 'Continuer',
    unasked: 'Vous n’avez pas demandé ce message ? Fermez cette page. Rien ne se passe.',
  },
  expired: {
    title: 'Ce lien a expiré',
    text: 'Retournez là où vous avez demandé le message et demandez-en un nouveau.',
  },
  ended: {
    title: 'Ce lien ne fonctionne plus',
    text: 'Son expéditeur y a mis fin. Retournez là où vous avez demandé le message et demandez-en un nouveau.',
  },
  incomplete: {
    title: 'Lien incomplet',
    text: 'Votre messagerie l’a peut-être coupé. Rouvrez le message et copiez le lien en entier.',
  },
  unavailable: {
    title: 'Réessayez dans une minute',
    text: 'Ce lien ne peut pas être vérifié pour le moment. Il n’a pas été utilisé : rechargez cette page dans une minute.',
  },
};

const spanish: GuardedLinkTexts = {
  open: {
    title: 'Continuar a {host}',
    text: 'Este enlace es de un mensaje que le envió {account}. Puede que funcione una sola vez, por eso se abre cuando pulsa el botón.',
    button: 'Continuar',
    unasked: '¿No pidió este mensaje? Cierre esta página. No pasa nada.',
  },
  expired: {
    title: 'Este enlace ha caducado',
    text: 'Vuelva al lugar donde pidió el mensaje y pida uno nuevo.',
  },
  ended: {
    title: 'Este enlace ya no funciona',
    text: 'Su remitente lo anuló. Vuelva al lugar donde pidió el mensaje y pida uno nuevo.',
  },
  incomplete: {
    title: 'Enlace incompleto',
    text: 'Puede que su programa de correo lo haya cortado. Abra el mensaje de nuevo y copie el enlace completo.',
  },
  unavailable: {
    title: 'Inténtelo de nuevo en un minuto',
    text: 'Ahora no podemos comprobar este enlace. No se ha gastado: vuelva a cargar esta página en un minuto.',
  },
};

const languages = { en: english, de: german, fr: french, es: spanish } as const;

/** The texts for a locale, and their language. @param locale BCP 47, or an Accept-Language field; others get English */
export function guardedLinkTexts(locale: string) {
  for (const range of locale.split(',', 10)) {
    const language = range.trim().slice(0, 2).toLowerCase();
    if (Object.hasOwn(languages, language))
      return { language, texts: languages[language as keyof typeof languages] };
  }
  return { language: 'en', texts: english };
}
