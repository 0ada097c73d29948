-- Whether this installation is being moved to another database, or arrives here. Every start reads it before anything else.
create table installation_move (
  id boolean primary key default true check (id),
  move_id uuid not null,
  side text not null check (side in ('source', 'target')),
  -- Host and name of the other database, without user and password.
  peer text not null,
  -- What distinguishes the installation from others: when it began, and its master key.
  origin text not null,
  started_at timestamptz not null default now(),
  -- Of a source: when everything was copied and compared. A target has a row only until then.
  finished_at timestamptz
);

-- How far each table of a target has come, written in the transaction that writes its rows.
create table installation_move_progress (
  table_name text primary key,
  next_page bigint not null,
  rows_copied bigint not null,
  finished boolean not null
);

-- Refuses what a moved database must not do. Its triggers exist only while `installation_move` has a row, so they also stop
-- processes that started before, and releases that don't know the table.
create function refuse_moved() returns trigger language plpgsql as $$
declare
  move installation_move;
begin
  select * into move from installation_move;
  raise exception using errcode = 'object_not_in_prerequisite_state', message = case
    when move.side = 'target' then format('the move from %s into this database isn''t finished', move.peer)
    when move.finished_at is null then format('this installation is being moved to %s', move.peer)
    else format('this installation was moved to %s', move.peer) end;
end $$;
