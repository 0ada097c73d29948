-- Notices about sign-ins: when the person first signed in, and when they were last told that guesses are being delayed.
alter table person add signed_in_at timestamptz;
update person set signed_in_at = now() where exists (select from browser_session where person_id = person.id);
alter table person add sign_in_blocked_at timestamptz;
