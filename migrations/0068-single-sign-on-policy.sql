-- An account can ask its people to sign in with a provider.
alter table account add sign_in text not null default 'own-choice'
  check (sign_in in ('own-choice', 'single-sign-on'));
