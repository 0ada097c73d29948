-- Jobs of webhooks, which processes of 0.2 needed. A schema of another role stays; its owner can drop it.
do $$ begin
  if exists (select from pg_namespace where nspname = 'graphile_worker' and pg_has_role(nspowner, 'usage')) then
    drop schema graphile_worker cascade;
  end if;
end $$;

-- The position of their follower, for which erasing opens and clicks would wait.
delete from feed_cursor where follower = 'webhook';

-- Without it, a claim doesn't write to any index.
drop index webhook_delivery_claimed;
