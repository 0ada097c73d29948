-- When the person was last told that guesses at their sign-in are being delayed.
alter table person add sign_in_blocked_at timestamptz;
