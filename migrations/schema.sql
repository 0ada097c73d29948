-- Generated from the migrations by `npm run generated`; for reading, not for running.

create table access_token (
  hash bytea not null,
  person_id uuid not null,
  client_id text not null,
  account_id text,
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  code_hash bytea,
  access_token_pkey PRIMARY KEY (hash),
  access_token_client_id_fkey FOREIGN KEY (client_id) REFERENCES integration(client_id) ON DELETE CASCADE,
  access_token_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX access_token_client ON access_token USING btree (client_id);
CREATE INDEX access_token_code ON access_token USING btree (code_hash) WHERE (code_hash IS NOT NULL);
CREATE INDEX access_token_expiry ON access_token USING btree (expires_at);
CREATE INDEX access_token_pair ON access_token USING btree (person_id, client_id);

create table account (
  id text not null,
  name text not null,
  add_ons text[] not null default '{}'::text[],
  suspended_at timestamp with time zone,
  retention_days smallint not null default 90,
  created_at timestamp with time zone not null default now(),
  quota_per_hour integer,
  quota_per_day integer,
  system boolean not null default false,
  archive_address text,
  attachment_limit integer,
  demo boolean not null default false,
  second_factor text not null default 'own-choice'::text,
  sign_in_hours integer,
  people_networks text[] not null default '{}'::text[],
  program_networks text[] not null default '{}'::text[],
  sign_in text not null default 'own-choice'::text,
  security_address text,
  account_pkey PRIMARY KEY (id),
  account_attachment_limit_check CHECK (attachment_limit >= 0 AND attachment_limit <= 26214400),
  account_quota_per_day_check CHECK (quota_per_day >= 0),
  account_quota_per_hour_check CHECK (quota_per_hour >= 0),
  account_retention_days_check CHECK (retention_days = ANY (ARRAY[30, 90, 400])),
  account_second_factor_check CHECK (second_factor = ANY (ARRAY['own-choice'::text, 'owners'::text, 'everyone'::text])),
  account_sign_in_check CHECK (sign_in = ANY (ARRAY['own-choice'::text, 'single-sign-on'::text])),
  account_sign_in_hours_check CHECK (sign_in_hours >= 1 AND sign_in_hours <= 168)
);
CREATE UNIQUE INDEX account_system ON account USING btree (system) WHERE system;
CREATE INDEX account_tag ON account USING btree (substr(sha256((id)::bytea), 1, 6));

create table account_event_page (
  account_id text not null,
  page bigint not null,
  size smallint not null,
  last_at timestamp with time zone not null,
  message_ids uuid[] not null,
  event_ids uuid[] not null,
  retention_days smallint[] not null,
  account_event_page_pkey PRIMARY KEY (account_id, page),
  account_event_page_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table account_event_start (
  account_id text not null,
  page bigint not null,
  size smallint not null,
  account_event_start_pkey PRIMARY KEY (account_id),
  account_event_start_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table account_quota_use (
  account_id text not null,
  hour_at timestamp with time zone not null,
  hour_used integer not null,
  day_at timestamp with time zone not null,
  day_used integer not null,
  granted integer not null,
  account_quota_use_pkey PRIMARY KEY (account_id),
  account_quota_use_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
) with (fillfactor=50);

create table account_sign_in_provider (
  account_id text not null,
  name text not null,
  issuer text not null,
  client_id text not null,
  client_secret bytea not null,
  trust_email boolean not null,
  members jsonb not null,
  link uuid not null default gen_random_uuid(),
  account_sign_in_provider_pkey PRIMARY KEY (account_id),
  account_sign_in_provider_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  account_sign_in_provider_link_key UNIQUE (link)
);

create table api_key (
  account_id text not null,
  id uuid not null,
  hash bytea not null,
  name text not null,
  scopes text[] not null,
  created_by uuid,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  hint text,
  networks cidr[],
  templates text[],
  replaced_by uuid,
  mode text not null default 'live'::text,
  signing_secret bytea,
  api_key_pkey PRIMARY KEY (account_id, id),
  api_key_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  api_key_account_id_hash_key UNIQUE (account_id, hash),
  api_key_content_limit CHECK (templates IS NULL OR ('messages:send-content'::text <> ALL (scopes))) NOT VALID,
  api_key_created_by_fkey FOREIGN KEY (created_by) REFERENCES person(id) ON DELETE SET NULL,
  api_key_mode_check CHECK (mode = ANY (ARRAY['live'::text, 'test'::text])) NOT VALID,
  api_key_not_system CHECK (account_id <> '.system'::text)
);
CREATE INDEX api_key_created_by ON api_key USING btree (created_by);

create table attachment_content (
  account_id text not null,
  sha256 bytea not null,
  content bytea not null,
  check_at timestamp with time zone not null,
  attachment_content_pkey PRIMARY KEY (account_id, sha256),
  attachment_content_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  attachment_content_sha256_check CHECK (octet_length(sha256) = 32)
);
CREATE INDEX attachment_content_check ON attachment_content USING btree (check_at);

create table audit_event (
  id uuid not null,
  at timestamp with time zone not null default now(),
  kind text not null,
  outcome text not null,
  person_id uuid,
  client_id text,
  account_id text,
  remote_address text,
  request_id text,
  detail jsonb not null default '{}'::jsonb,
  audit_event_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_event_account ON audit_event USING btree (account_id, at, id);
CREATE INDEX audit_event_at ON audit_event USING btree (at);
CREATE INDEX audit_event_client ON audit_event USING btree (client_id, at) WHERE (client_id IS NOT NULL);
CREATE INDEX audit_event_kind ON audit_event USING btree (account_id, kind, at, id);
CREATE INDEX audit_event_person ON audit_event USING btree (person_id, at) WHERE (person_id IS NOT NULL);

create table browser_session (
  hash bytea not null,
  id uuid not null,
  person_id uuid not null,
  complete boolean not null,
  created_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  remote_address text not null,
  user_agent text not null,
  authenticated_at timestamp with time zone not null default now(),
  last_used_at timestamp with time zone not null default now(),
  last_address text,
  provider_identity_id uuid,
  provider_second_factor boolean not null default false,
  browser_session_pkey PRIMARY KEY (hash),
  browser_session_id_key UNIQUE (id),
  browser_session_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE,
  browser_session_provider_identity_id_fkey FOREIGN KEY (provider_identity_id) REFERENCES provider_identity(id) ON DELETE CASCADE
);
CREATE INDEX browser_session_expiry ON browser_session USING btree (expires_at);
CREATE INDEX browser_session_person ON browser_session USING btree (person_id);
CREATE INDEX browser_session_provider_identity ON browser_session USING btree (provider_identity_id) WHERE (provider_identity_id IS NOT NULL);

create table budget_use (
  id uuid not null default gen_random_uuid(),
  key bytea not null,
  amount integer not null,
  expires_at timestamp with time zone not null,
  budget_use_pkey PRIMARY KEY (id)
);
CREATE INDEX budget_use_expires ON budget_use USING btree (expires_at);
CREATE INDEX budget_use_key ON budget_use USING btree (key, expires_at);

create table consent (
  person_id uuid not null,
  client_id text not null,
  account_id text not null,
  granted_at timestamp with time zone not null,
  consent_pkey PRIMARY KEY (person_id, client_id),
  consent_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  consent_client_id_fkey FOREIGN KEY (client_id) REFERENCES integration(client_id) ON DELETE CASCADE,
  consent_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX consent_account ON consent USING btree (account_id);
CREATE INDEX consent_client ON consent USING btree (client_id);

create table contact (
  account_id text not null,
  list_id text not null,
  email text not null,
  fields jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  contact_pkey PRIMARY KEY (account_id, list_id, email),
  contact_account_id_list_id_fkey FOREIGN KEY (account_id, list_id) REFERENCES contact_list(account_id, id) ON DELETE CASCADE
);

create table contact_list (
  account_id text not null,
  id text not null,
  name text not null,
  folder_name text not null default ''::text,
  description text not null default ''::text,
  source_size integer not null default 0,
  content_hash bytea,
  created_at timestamp with time zone not null default now(),
  modified_at timestamp with time zone not null default now(),
  contact_list_pkey PRIMARY KEY (account_id, id),
  contact_list_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table delivery_pause (
  account_id text not null,
  destination text not null,
  paused_at timestamp with time zone not null default now(),
  delivery_pause_pkey PRIMARY KEY (account_id, destination),
  delivery_pause_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table destination (
  name text not null,
  label text not null,
  rate double precision not null,
  good double precision not null,
  bad double precision,
  connections integer not null,
  changed_at timestamp with time zone not null default now(),
  connections_at timestamp with time zone not null default now(),
  slowed_at timestamp with time zone,
  slowed_reason text,
  blocked_until timestamp with time zone,
  override_rate double precision,
  override_connections integer,
  version bigint not null default 0,
  session_messages integer,
  session_at timestamp with time zone,
  session_reason text,
  override_session_messages integer,
  destination_pkey PRIMARY KEY (name),
  destination_override_connections_check CHECK (override_connections > 0),
  destination_override_rate_check CHECK (override_rate > 0::double precision),
  destination_override_session_messages_check CHECK (override_session_messages > 0),
  destination_session_messages_check CHECK (session_messages > 0)
);

create table destination_node (
  name text not null,
  node uuid not null,
  demand double precision not null,
  sent double precision not null,
  seen_at timestamp with time zone not null,
  destination_node_pkey PRIMARY KEY (name, node)
) with (fillfactor=70);
CREATE INDEX destination_node_seen ON destination_node USING btree (seen_at);

create table dkim_key (
  account_id text not null,
  domain text not null,
  selector text not null,
  algorithm text not null,
  private_key bytea not null,
  record text not null,
  state text not null default 'pending'::text,
  state_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  dkim_key_pkey PRIMARY KEY (account_id, domain, selector),
  dkim_key_account_id_domain_fkey FOREIGN KEY (account_id, domain) REFERENCES sending_domain(account_id, domain) ON DELETE CASCADE,
  dkim_key_algorithm_check CHECK (algorithm = ANY (ARRAY['rsa-sha256'::text, 'ed25519-sha256'::text])),
  dkim_key_state_check CHECK (state = ANY (ARRAY['pending'::text, 'active'::text, 'retired'::text]))
);

create table domain_finding (
  account_id text not null,
  domain text not null,
  kind text not null,
  name text not null,
  type text not null,
  expected text not null,
  required boolean not null,
  state text not null,
  found text[] not null,
  explanation text not null,
  resolver text not null,
  checked_at timestamp with time zone not null default now(),
  domain_finding_pkey PRIMARY KEY (account_id, domain, kind, name),
  domain_finding_account_id_domain_fkey FOREIGN KEY (account_id, domain) REFERENCES sending_domain(account_id, domain) ON DELETE CASCADE,
  domain_finding_kind_check CHECK (kind = ANY (ARRAY['dkim'::text, 'spf'::text, 'return-path'::text, 'from-spf'::text, 'dmarc'::text, 'tracking'::text])),
  domain_finding_state_check CHECK (state = ANY (ARRAY['ok'::text, 'missing'::text, 'wrong'::text, 'unknown'::text]))
);

create table failed_request (
  account_id text not null,
  id uuid not null,
  at timestamp with time zone not null default now(),
  client_id text not null,
  method text not null,
  route text not null,
  status smallint not null,
  error text not null,
  details jsonb not null,
  failed_request_pkey PRIMARY KEY (account_id, id),
  failed_request_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX failed_request_at ON failed_request USING btree (at);

create table feed_cursor (
  name text not null,
  tx xid8 not null,
  rested_from timestamp with time zone,
  follower text not null default split_part(name, '/'::text, 1),
  lanes smallint not null default (COALESCE(NULLIF(split_part(name, '/'::text, 2), ''::text), '255'::text))::smallint,
  begun smallint not null default 0,
  feed_cursor_pkey PRIMARY KEY (name)
);

create table file_import (
  account_id text not null,
  list_id text,
  id uuid not null,
  state text not null,
  bytes_total bigint not null,
  bytes_read bigint not null default 0,
  rows_read integer not null default 0,
  rows_written integer not null default 0,
  rows_wrong integer not null default 0,
  problems jsonb not null default '[]'::jsonb,
  created_at timestamp with time zone not null default now(),
  changed_at timestamp with time zone not null default now(),
  name text,
  sha256 bytea,
  run_id uuid,
  columns text[],
  rejected_size integer not null default 0,
  rejected_kept integer not null default 0,
  contact_import_account_id_list_id_fkey FOREIGN KEY (account_id, list_id) REFERENCES contact_list(account_id, id) ON DELETE CASCADE,
  file_import_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  file_import_key UNIQUE NULLS NOT DISTINCT (account_id, list_id, id),
  file_import_state_check CHECK (state = ANY (ARRAY['running'::text, 'done'::text, 'failed'::text, 'stopped'::text]))
);

create table file_import_rejection (
  account_id text not null,
  list_id text,
  import_id uuid not null,
  row integer not null,
  line integer not null,
  reason text not null,
  record text[] not null,
  created_at timestamp with time zone not null default now(),
  file_import_rejection_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  file_import_rejection_account_id_list_id_fkey FOREIGN KEY (account_id, list_id) REFERENCES contact_list(account_id, id) ON DELETE CASCADE,
  file_import_rejection_account_id_list_id_import_id_row_key UNIQUE NULLS NOT DISTINCT (account_id, list_id, import_id, "row")
);
CREATE INDEX file_import_rejection_age ON file_import_rejection USING btree (created_at);

create table grant_code (
  hash bytea not null,
  person_id uuid not null,
  client_id text not null,
  account_id text not null,
  redirect_uri text not null,
  redirect_uri_sent boolean not null,
  code_challenge text,
  expires_at timestamp with time zone not null,
  used_at timestamp with time zone,
  grant_code_pkey PRIMARY KEY (hash),
  grant_code_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  grant_code_client_id_fkey FOREIGN KEY (client_id) REFERENCES integration(client_id) ON DELETE CASCADE,
  grant_code_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX grant_code_account ON grant_code USING btree (account_id);
CREATE INDEX grant_code_client ON grant_code USING btree (client_id);
CREATE INDEX grant_code_expiry ON grant_code USING btree (expires_at);
CREATE INDEX grant_code_person ON grant_code USING btree (person_id);

create table hosted_image (
  account_id text not null,
  sha256 bytea not null,
  filename text not null,
  content_type text not null,
  size integer not null,
  created_at timestamp with time zone not null default now(),
  removed_at timestamp with time zone,
  hosted_image_pkey PRIMARY KEY (account_id, sha256),
  hosted_image_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  hosted_image_account_id_sha256_fkey FOREIGN KEY (account_id, sha256) REFERENCES attachment_content(account_id, sha256)
);
CREATE INDEX hosted_image_removed ON hosted_image USING btree (removed_at) WHERE (removed_at IS NOT NULL);

create table idempotency_key (
  account_id text not null,
  key text not null,
  request_hash bytea not null,
  message_id uuid not null,
  suppressed_recipients text[] not null default '{}'::text[],
  created_at timestamp with time zone not null,
  idempotency_key_pkey PRIMARY KEY (account_id, key)
);

create table idempotency_sweep (
  id boolean not null default true,
  begun_at timestamp with time zone not null,
  idempotency_sweep_pkey PRIMARY KEY (id),
  idempotency_sweep_id_check CHECK (id)
);

create table inbox_message (
  id uuid not null,
  received_at timestamp with time zone not null,
  envelope_from text not null,
  envelope_to text[] not null,
  subject text not null,
  headers jsonb not null,
  html text,
  text text,
  source bytea not null,
  unread boolean not null default false,
  account_id text,
  test boolean not null default false,
  inbox_message_pkey PRIMARY KEY (id)
);
CREATE INDEX inbox_message_account ON inbox_message USING btree (account_id, received_at DESC, id DESC);
CREATE INDEX inbox_message_received ON inbox_message USING btree (received_at DESC, id DESC);

create table installation (
  id boolean not null default true,
  key_fingerprint text,
  demo_applied_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  key_previous_fingerprint text,
  key_switched_at timestamp with time zone,
  key_followed_at timestamp with time zone,
  installation_pkey PRIMARY KEY (id),
  installation_id_check CHECK (id)
);

create table installation_move (
  id boolean not null default true,
  move_id uuid not null,
  side text not null,
  peer text not null,
  origin text not null,
  started_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  installation_move_pkey PRIMARY KEY (id),
  installation_move_id_check CHECK (id),
  installation_move_side_check CHECK (side = ANY (ARRAY['source'::text, 'target'::text]))
);

create table installation_move_progress (
  table_name text not null,
  next_page bigint not null,
  rows_copied bigint not null,
  finished boolean not null,
  installation_move_progress_pkey PRIMARY KEY (table_name)
);

create table integration (
  client_id text not null,
  account_id text not null,
  name text not null,
  secret_hash bytea not null,
  redirect_uri text not null,
  grants text[] not null,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  require_pkce boolean not null default false,
  initial_requests_per_hour integer not null default 5,
  previous_secret_hash bytea,
  previous_secret_until timestamp with time zone,
  integration_pkey PRIMARY KEY (client_id),
  integration_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  integration_initial_requests_per_hour_check CHECK (initial_requests_per_hour >= 1 AND initial_requests_per_hour <= 1000),
  integration_not_system CHECK (account_id <> '.system'::text)
);
CREATE INDEX integration_account ON integration USING btree (account_id);

create table invitation (
  account_id text not null,
  email text not null,
  hash bytea not null,
  role text not null,
  name text,
  invited_by uuid not null,
  created_at timestamp with time zone not null default now(),
  sent_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  withdrawn_at timestamp with time zone,
  invitation_pkey PRIMARY KEY (account_id, email),
  invitation_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  invitation_email_check CHECK (email = lower(email)),
  invitation_hash_key UNIQUE (hash),
  invitation_invited_by_fkey FOREIGN KEY (invited_by) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX invitation_expires ON invitation USING btree (expires_at);
CREATE INDEX invitation_invited_by ON invitation USING btree (invited_by);

create table key_leftover (
  hash bytea not null,
  key_leftover_pkey PRIMARY KEY (hash)
);

create table key_node (
  node uuid not null,
  name text not null,
  known text[] not null,
  current text not null,
  seen_at timestamp with time zone not null default now(),
  latest_migration integer,
  key_node_pkey PRIMARY KEY (node)
);

create table known_browser (
  person_id uuid not null,
  hash bytea not null,
  proven_by text not null,
  last_used_at timestamp with time zone not null default now(),
  known_browser_pkey PRIMARY KEY (person_id, proven_by, hash),
  known_browser_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);

create table membership (
  account_id text not null,
  person_id uuid not null,
  role text not null,
  created_at timestamp with time zone not null default now(),
  granted_by text,
  membership_pkey PRIMARY KEY (account_id, person_id),
  membership_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  membership_granted_by_check CHECK (granted_by = ANY (ARRAY['installation'::text, 'account'::text])),
  membership_not_system CHECK (account_id <> '.system'::text),
  membership_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE,
  membership_role_check CHECK (role = ANY (ARRAY['owner'::text, 'developer'::text, 'marketer'::text, 'viewer'::text, 'service'::text]))
);
CREATE INDEX membership_person ON membership USING btree (person_id);

create table message (
  account_id text not null,
  id uuid not null,
  retention_days smallint not null,
  template_id text not null,
  template_version integer not null,
  state text not null default 'queued'::text,
  transactional boolean not null,
  track_opens boolean not null,
  track_clicks boolean not null,
  deliver_when_delayed boolean not null,
  external_id text,
  tag text,
  client_id text not null,
  accepted_at timestamp with time zone not null,
  state_at timestamp with time zone not null,
  content json,
  tx xid8 not null default pg_current_xact_id(),
  new_call boolean not null default true,
  engaged smallint,
  message_pkey PRIMARY KEY (account_id, id, retention_days),
  message_state_check CHECK (state = ANY (ARRAY['queued'::text, 'sending'::text, 'deferred'::text, 'delivered'::text, 'bounced'::text, 'expired'::text, 'failed'::text, 'uncertain'::text, 'suppressed'::text, 'canceled'::text]))
) partition by LIST (retention_days);
CREATE INDEX message_tx ON ONLY message USING btree (tx);

partition message_30 of message FOR VALUES IN ('30') by RANGE (id)

partition message_30_rest of message_30 DEFAULT

partition message_400 of message FOR VALUES IN ('400') by RANGE (id)

partition message_400_rest of message_400 DEFAULT

partition message_7 of message FOR VALUES IN ('7') by RANGE (id)

partition message_7_rest of message_7 DEFAULT

partition message_90 of message FOR VALUES IN ('90') by RANGE (id)

partition message_90_rest of message_90 DEFAULT

create table message_attachment (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  sha256 bytea not null,
  message_attachment_pkey PRIMARY KEY (account_id, message_id, sha256, retention_days)
) partition by LIST (retention_days);
CREATE INDEX message_attachment_content ON ONLY message_attachment USING btree (account_id, sha256);

partition message_attachment_30 of message_attachment FOR VALUES IN ('30') by RANGE (message_id)

partition message_attachment_30_rest of message_attachment_30 DEFAULT

partition message_attachment_400 of message_attachment FOR VALUES IN ('400') by RANGE (message_id)

partition message_attachment_400_rest of message_attachment_400 DEFAULT

partition message_attachment_7 of message_attachment FOR VALUES IN ('7') by RANGE (message_id)

partition message_attachment_7_rest of message_attachment_7 DEFAULT

partition message_attachment_90 of message_attachment FOR VALUES IN ('90') by RANGE (message_id)

partition message_attachment_90_rest of message_attachment_90 DEFAULT

partition message_attachment_scheduled of message_attachment FOR VALUES IN ('10030', '10090', '10400')

partition message_attachment_scheduled_test of message_attachment FOR VALUES IN ('10007')

create table message_attribute (
  account_id text not null,
  hash bytea not null,
  message_id uuid not null,
  retention_days smallint not null,
  message_attribute_pkey PRIMARY KEY (account_id, hash, message_id, retention_days)
) partition by LIST (retention_days);
CREATE INDEX message_attribute_message ON ONLY message_attribute USING btree (account_id, message_id);

partition message_attribute_30 of message_attribute FOR VALUES IN ('30') by RANGE (message_id)

partition message_attribute_30_rest of message_attribute_30 DEFAULT

partition message_attribute_400 of message_attribute FOR VALUES IN ('400') by RANGE (message_id)

partition message_attribute_400_rest of message_attribute_400 DEFAULT

partition message_attribute_7 of message_attribute FOR VALUES IN ('7') by RANGE (message_id)

partition message_attribute_7_rest of message_attribute_7 DEFAULT

partition message_attribute_90 of message_attribute FOR VALUES IN ('90') by RANGE (message_id)

partition message_attribute_90_rest of message_attribute_90 DEFAULT

partition message_attribute_scheduled of message_attribute FOR VALUES IN ('10030', '10090', '10400')

partition message_attribute_scheduled_test of message_attribute FOR VALUES IN ('10007')

create table message_event (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  id uuid not null,
  at timestamp with time zone not null,
  kind text not null,
  recipient smallint,
  detail json not null default '{}'::json,
  tx xid8 not null default pg_current_xact_id(),
  message_event_pkey PRIMARY KEY (account_id, message_id, id, retention_days)
) partition by LIST (retention_days);
CREATE INDEX message_event_engagement ON ONLY message_event USING btree (account_id, message_id) WHERE (kind = ANY (ARRAY['opened'::text, 'clicked'::text]));
CREATE INDEX message_event_tx ON ONLY message_event USING btree (tx);

partition message_event_30 of message_event FOR VALUES IN ('30') by RANGE (message_id)

partition message_event_30_rest of message_event_30 DEFAULT

partition message_event_400 of message_event FOR VALUES IN ('400') by RANGE (message_id)

partition message_event_400_rest of message_event_400 DEFAULT

partition message_event_7 of message_event FOR VALUES IN ('7') by RANGE (message_id)

partition message_event_7_rest of message_event_7 DEFAULT

partition message_event_90 of message_event FOR VALUES IN ('90') by RANGE (message_id)

partition message_event_90_rest of message_event_90 DEFAULT

partition message_event_scheduled of message_event FOR VALUES IN ('10030', '10090', '10400')

partition message_event_scheduled_test of message_event FOR VALUES IN ('10007')

create table message_reply (
  account_id text not null,
  id uuid not null,
  message_id uuid not null,
  retention_days smallint not null,
  received_at timestamp with time zone not null default now(),
  fingerprint bytea not null,
  size integer not null,
  automatic boolean not null,
  sender text,
  content json,
  hashes bytea[] not null,
  message_reply_pkey PRIMARY KEY (account_id, id),
  message_reply_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX message_reply_age ON message_reply USING btree (retention_days, message_id);
CREATE INDEX message_reply_erasable ON message_reply USING btree (account_id, message_id) WHERE ((content IS NOT NULL) OR (sender IS NOT NULL));
CREATE UNIQUE INDEX message_reply_message ON message_reply USING btree (account_id, message_id, fingerprint);
CREATE INDEX message_reply_sender ON message_reply USING btree (account_id, sender) WHERE (sender IS NOT NULL);

partition message_scheduled of message FOR VALUES IN ('10030', '10090', '10400')

partition message_scheduled_test of message FOR VALUES IN ('10007')

create table message_search (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  recipient smallint not null,
  address text,
  state text not null,
  template_id text not null,
  tag text,
  external_id text,
  message_search_pkey PRIMARY KEY (account_id, message_id, recipient, retention_days)
) partition by LIST (retention_days);
CREATE INDEX message_search_address ON ONLY message_search USING btree (account_id, address, message_id);
CREATE INDEX message_search_external ON ONLY message_search USING btree (account_id, external_id, message_id) WHERE (external_id IS NOT NULL);
CREATE INDEX message_search_state ON ONLY message_search USING btree (account_id, state, message_id);
CREATE INDEX message_search_tag ON ONLY message_search USING btree (account_id, tag, message_id) WHERE (tag IS NOT NULL);
CREATE INDEX message_search_template ON ONLY message_search USING btree (account_id, template_id, message_id);

partition message_search_30 of message_search FOR VALUES IN ('30') by RANGE (message_id)

partition message_search_30_rest of message_search_30 DEFAULT

partition message_search_400 of message_search FOR VALUES IN ('400') by RANGE (message_id)

partition message_search_400_rest of message_search_400 DEFAULT

partition message_search_7 of message_search FOR VALUES IN ('7') by RANGE (message_id)

partition message_search_7_rest of message_search_7 DEFAULT

partition message_search_90 of message_search FOR VALUES IN ('90') by RANGE (message_id)

partition message_search_90_rest of message_search_90 DEFAULT

partition message_search_scheduled of message_search FOR VALUES IN ('10030', '10090', '10400')

partition message_search_scheduled_test of message_search FOR VALUES IN ('10007')

create table one_time_link (
  purpose text not null,
  code_hash bytea not null,
  expires_at timestamp with time zone not null,
  one_time_link_pkey PRIMARY KEY (purpose),
  one_time_link_purpose_check CHECK (purpose = ANY (ARRAY['set-up'::text, 'inbox'::text]))
);

create table outbox_source (
  account_id text not null,
  id text not null,
  incarnation uuid not null default gen_random_uuid(),
  table_name text not null,
  sealed_url bytea not null,
  server text not null,
  rows_per_second integer not null,
  created_at timestamp with time zone not null default now(),
  lease_owner uuid,
  lease_until timestamp with time zone,
  dialect text not null default 'postgres'::text,
  answers_table text,
  after_accept text not null default 'keep'::text,
  state jsonb not null default '{}'::jsonb,
  retry_ids text[],
  outbox_source_pkey PRIMARY KEY (account_id, id),
  outbox_source_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table passkey (
  id uuid not null,
  person_id uuid not null,
  credential_id bytea not null,
  public_key bytea not null,
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  passkey_pkey PRIMARY KEY (id),
  passkey_credential_id_key UNIQUE (credential_id),
  passkey_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX passkey_person ON passkey USING btree (person_id);

create table password_reset (
  hash bytea not null,
  person_id uuid not null,
  expires_at timestamp with time zone not null,
  created_at timestamp with time zone not null default now(),
  password_reset_pkey PRIMARY KEY (hash),
  password_reset_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX password_reset_person ON password_reset USING btree (person_id);

create table person (
  id uuid not null,
  email text not null,
  name text not null,
  password_hash text,
  disabled_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  operator boolean not null default false,
  locale text,
  proven_at timestamp with time zone,
  formats text,
  signed_in_at timestamp with time zone,
  sign_in_blocked_at timestamp with time zone,
  person_pkey PRIMARY KEY (id),
  person_email_check CHECK (email = lower(email)),
  person_email_key UNIQUE (email),
  person_formats_check CHECK (formats = ANY (ARRAY['en-US'::text, 'en-GB'::text, 'en-DE'::text, 'en-SE'::text, 'en-IN'::text])),
  person_locale_check CHECK (locale = ANY (ARRAY['en'::text, 'de'::text, 'fr'::text, 'es'::text]))
);

create table privacy_record (
  account_id text not null,
  id uuid not null,
  at timestamp with time zone not null default now(),
  kind text not null,
  address_hash bytea not null,
  requested_by text not null,
  counts jsonb not null,
  privacy_record_pkey PRIMARY KEY (account_id, id),
  privacy_record_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  privacy_record_kind_check CHECK (kind = ANY (ARRAY['erase'::text, 'export'::text]))
);

create table provider_identity (
  id uuid not null,
  provider_account text,
  issuer text not null,
  subject text not null,
  person_id uuid not null,
  linked boolean not null,
  created_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  second_factor boolean not null default false,
  provider_identity_pkey PRIMARY KEY (id),
  provider_identity_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE,
  provider_identity_provider_account_fkey FOREIGN KEY (provider_account) REFERENCES account(id) ON DELETE CASCADE,
  provider_identity_provider_account_issuer_subject_key UNIQUE NULLS NOT DISTINCT (provider_account, issuer, subject)
);
CREATE INDEX provider_identity_person ON provider_identity USING btree (person_id);

create table queue_entry (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  priority smallint not null,
  due_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  attempts integer not null default 0,
  lease_owner uuid,
  fence bigint not null default 0,
  stage text,
  pending smallint[] not null,
  reason text,
  held smallint[] not null default '{}'::smallint[],
  paused boolean not null default false,
  canceled boolean not null default false,
  in_transaction smallint[],
  doubtful smallint[],
  deliver_before timestamp with time zone,
  orphaned smallint not null default 0,
  alone boolean not null default false,
  queue_entry_pkey PRIMARY KEY (account_id, message_id),
  queue_entry_lease_ends CHECK (lease_owner IS NULL OR due_at < 'infinity'::timestamp with time zone) NOT VALID,
  queue_entry_stage_check CHECK (stage = ANY (ARRAY['claimed'::text, 'dot'::text]))
) with (fillfactor=80, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_vacuum_cost_delay=0);
CREATE INDEX queue_entry_deadline ON queue_entry USING btree (account_id, deliver_before) WHERE (deliver_before IS NOT NULL);
CREATE INDEX queue_entry_due ON queue_entry USING btree (account_id, priority, due_at);

create table recovery_code (
  person_id uuid not null,
  hash bytea not null,
  recovery_code_pkey PRIMARY KEY (person_id, hash),
  recovery_code_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);

create table relay_delivery (
  account_id text not null,
  relay_id text not null,
  message_id uuid not null,
  at timestamp with time zone not null default now(),
  relay_delivery_pkey PRIMARY KEY (account_id, relay_id)
);
CREATE INDEX relay_delivery_at ON relay_delivery USING btree (at);

create table report_destination (
  account_id text not null,
  quarter timestamp with time zone not null,
  accepted integer not null default 0,
  delivered integer not null default 0,
  bounced_hard integer not null default 0,
  bounced_soft integer not null default 0,
  deferred integer not null default 0,
  expired integer not null default 0,
  failed integer not null default 0,
  uncertain integer not null default 0,
  canceled integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opened_people integer not null default 0,
  opened_people_unique integer not null default 0,
  opened_machines integer not null default 0,
  opened_machines_unique integer not null default 0,
  clicked_people integer not null default 0,
  clicked_people_unique integer not null default 0,
  clicked_machines integer not null default 0,
  clicked_machines_unique integer not null default 0,
  destination_domain text not null,
  report_destination_pkey PRIMARY KEY (account_id, quarter, destination_domain),
  report_destination_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX report_destination_domain ON report_destination USING btree (account_id, destination_domain, quarter);

create table report_latency (
  account_id text not null,
  quarter timestamp with time zone not null,
  template_id text not null,
  histogram bytea not null,
  report_latency_pkey PRIMARY KEY (account_id, quarter, template_id),
  report_latency_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX report_latency_template ON report_latency USING btree (account_id, template_id, quarter);

create table report_latency_sum (
  account_id text not null,
  span text not null,
  template_id text not null,
  begins timestamp with time zone not null,
  histogram bytea not null,
  report_latency_sum_pkey PRIMARY KEY (account_id, span, template_id, begins),
  report_latency_sum_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  report_latency_sum_span_check CHECK (span = ANY (ARRAY['quarter'::text, 'day'::text]))
);

create table report_locale (
  account_id text not null,
  quarter timestamp with time zone not null,
  template_id text not null,
  accepted integer not null default 0,
  delivered integer not null default 0,
  bounced_hard integer not null default 0,
  bounced_soft integer not null default 0,
  deferred integer not null default 0,
  expired integer not null default 0,
  failed integer not null default 0,
  uncertain integer not null default 0,
  canceled integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opened_people integer not null default 0,
  opened_people_unique integer not null default 0,
  opened_machines integer not null default 0,
  opened_machines_unique integer not null default 0,
  clicked_people integer not null default 0,
  clicked_people_unique integer not null default 0,
  clicked_machines integer not null default 0,
  clicked_machines_unique integer not null default 0,
  locale text not null,
  report_locale_pkey PRIMARY KEY (account_id, quarter, template_id, locale),
  report_locale_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX report_locale_template ON report_locale USING btree (account_id, template_id, locale, quarter);

create table report_ordered (
  account_id text not null,
  until timestamp with time zone not null,
  report_ordered_pkey PRIMARY KEY (account_id),
  report_ordered_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table report_sum (
  account_id text not null,
  begins timestamp with time zone not null,
  tag text not null,
  accepted integer not null default 0,
  delivered integer not null default 0,
  bounced_hard integer not null default 0,
  bounced_soft integer not null default 0,
  deferred integer not null default 0,
  expired integer not null default 0,
  failed integer not null default 0,
  uncertain integer not null default 0,
  canceled integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opened_people integer not null default 0,
  opened_people_unique integer not null default 0,
  opened_machines integer not null default 0,
  opened_machines_unique integer not null default 0,
  clicked_people integer not null default 0,
  clicked_people_unique integer not null default 0,
  clicked_machines integer not null default 0,
  clicked_machines_unique integer not null default 0,
  span text not null,
  sum_of text not null,
  key text not null,
  report_sum_pkey PRIMARY KEY (account_id, span, sum_of, key, tag, begins),
  report_sum_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  report_sum_span_check CHECK (span = ANY (ARRAY['quarter'::text, 'day'::text])),
  report_sum_sum_of_check CHECK (sum_of = ANY (ARRAY['all'::text, 'template'::text, 'tag'::text, 'sender'::text, 'destination'::text, 'template_tag'::text, 'locale'::text, 'template_locale'::text]))
);

create table report_total (
  account_id text not null,
  quarter timestamp with time zone not null,
  template_id text not null,
  tag text not null,
  sender_domain text not null,
  accepted integer not null default 0,
  delivered integer not null default 0,
  bounced_hard integer not null default 0,
  bounced_soft integer not null default 0,
  deferred integer not null default 0,
  expired integer not null default 0,
  failed integer not null default 0,
  uncertain integer not null default 0,
  canceled integer not null default 0,
  complained integer not null default 0,
  unsubscribed integer not null default 0,
  opened_people integer not null default 0,
  opened_people_unique integer not null default 0,
  opened_machines integer not null default 0,
  opened_machines_unique integer not null default 0,
  clicked_people integer not null default 0,
  clicked_people_unique integer not null default 0,
  clicked_machines integer not null default 0,
  clicked_machines_unique integer not null default 0,
  report_total_pkey PRIMARY KEY (account_id, quarter, template_id, tag, sender_domain),
  report_total_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);
CREATE INDEX report_total_template ON report_total USING btree (account_id, template_id, tag, quarter);

create table retention_rule (
  account_id text not null,
  content_days smallint,
  address_days smallint,
  engagement_days smallint,
  content_done uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  address_done uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  retention_rule_pkey PRIMARY KEY (account_id),
  retention_rule_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  retention_rule_address_days_check CHECK (address_days >= 3),
  retention_rule_content_days_check CHECK (content_days >= 3),
  retention_rule_engagement_days_check CHECK (engagement_days >= 3)
);

create table saved_filter (
  account_id text not null,
  person_id uuid not null,
  name text not null,
  query jsonb not null,
  saved_filter_pkey PRIMARY KEY (account_id, person_id, name),
  saved_filter_account_id_person_id_fkey FOREIGN KEY (account_id, person_id) REFERENCES membership(account_id, person_id) ON DELETE CASCADE
);

create table scheduled_message (
  account_id text not null,
  message_id uuid not null,
  retention_days smallint not null,
  send_at timestamp with time zone not null,
  lifetime_seconds integer not null,
  keep_until timestamp with time zone not null,
  tag text,
  external_id text,
  waiting boolean not null default true,
  content_erased boolean not null default false,
  addresses_erased boolean not null default false,
  scheduled_message_pkey PRIMARY KEY (account_id, message_id)
);
CREATE INDEX scheduled_message_end ON scheduled_message USING btree (keep_until);
CREATE INDEX scheduled_message_erasable ON scheduled_message USING btree (account_id, send_at) WHERE ((NOT content_erased) OR (NOT addresses_erased));
CREATE INDEX scheduled_message_external ON scheduled_message USING btree (account_id, external_id, send_at, message_id) WHERE (waiting AND (external_id IS NOT NULL));
CREATE INDEX scheduled_message_tag ON scheduled_message USING btree (account_id, tag, send_at, message_id) WHERE (waiting AND (tag IS NOT NULL));
CREATE INDEX scheduled_message_waiting ON scheduled_message USING btree (account_id, send_at, message_id) WHERE waiting;

create table schema_migration (
  version integer not null,
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default now(),
  schema_migration_pkey PRIMARY KEY (version)
);

create table second_factor (
  person_id uuid not null,
  secret bytea not null,
  confirmed_at timestamp with time zone,
  last_step bigint not null default 0,
  second_factor_pkey PRIMARY KEY (person_id),
  second_factor_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);

create table sender (
  account_id text not null,
  address text not null,
  display_names text[] not null default '{}'::text[],
  verified_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  verified_by text,
  sender_pkey PRIMARY KEY (account_id, address),
  sender_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  sender_verified_by_check CHECK (verified_by = ANY (ARRAY['domain'::text, 'link'::text]))
);

create table sender_proof (
  account_id text not null,
  address text not null,
  hash bytea not null,
  expires_at timestamp with time zone not null,
  asked_by uuid,
  sender_proof_pkey PRIMARY KEY (account_id, address),
  sender_proof_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE NOT VALID,
  sender_proof_hash_key UNIQUE (hash)
);
CREATE INDEX sender_proof_asked_by ON sender_proof USING btree (asked_by) WHERE (asked_by IS NOT NULL);

create table sending_domain (
  account_id text not null,
  domain text not null,
  state text not null default 'pending'::text,
  state_at timestamp with time zone not null default now(),
  bad_checks integer not null default 0,
  return_path text not null,
  tracking_host text,
  source_pool text not null default 'default'::text,
  warm_up_from date,
  warm_up_plan integer[],
  checked_at timestamp with time zone,
  next_check_at timestamp with time zone not null default now(),
  created_at timestamp with time zone not null default now(),
  zone text,
  dns_provider text,
  sending_domain_pkey PRIMARY KEY (account_id, domain),
  sending_domain_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  sending_domain_state_check CHECK (state = ANY (ARRAY['pending'::text, 'verified'::text, 'broken'::text]))
);
CREATE INDEX sending_domain_next_check ON sending_domain USING btree (next_check_at);

create table service_process (
  id uuid not null,
  host text not null,
  pid integer not null,
  version text not null,
  roles text[] not null,
  started_at timestamp with time zone not null default now(),
  seen_at timestamp with time zone not null default now(),
  in_flight integer not null,
  delay_ms integer not null,
  unread_forwarded bigint not null default 0,
  unmatched_reports bigint not null default 0,
  service_process_pkey PRIMARY KEY (id)
);

create table session_pair (
  person_id uuid not null,
  client_id text not null,
  account_id text,
  refresh_hash bytea,
  spent_refresh_hash bytea,
  initial_requests timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  changed_at timestamp with time zone not null default now(),
  code_hash bytea,
  session_pair_pkey PRIMARY KEY (person_id, client_id),
  session_pair_client_id_fkey FOREIGN KEY (client_id) REFERENCES integration(client_id) ON DELETE CASCADE,
  session_pair_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX session_pair_client ON session_pair USING btree (client_id);
CREATE INDEX session_pair_code ON session_pair USING btree (code_hash) WHERE (code_hash IS NOT NULL);
CREATE UNIQUE INDEX session_pair_refresh ON session_pair USING btree (refresh_hash);
CREATE INDEX session_pair_spent_refresh ON session_pair USING btree (spent_refresh_hash);

create table source_warm_up (
  address text not null,
  warm_up_from date not null,
  warm_up_plan integer[] not null,
  source_warm_up_pkey PRIMARY KEY (address)
);

create table spent_challenge (
  challenge bytea not null,
  expires_at timestamp with time zone not null,
  spent_challenge_pkey PRIMARY KEY (challenge)
);
CREATE INDEX spent_challenge_expiry ON spent_challenge USING btree (expires_at);

create table spent_intake_token (
  hash bytea not null,
  spent_at timestamp with time zone not null default now(),
  spent_intake_token_pkey PRIMARY KEY (hash)
);
CREATE INDEX spent_intake_token_spent_at ON spent_intake_token USING btree (spent_at);

create table sts_policy (
  domain text not null,
  record_id text not null,
  mode text not null,
  mx text[] not null,
  max_age integer not null,
  fetched_at timestamp with time zone not null,
  sts_policy_pkey PRIMARY KEY (domain),
  sts_policy_mode_check CHECK (mode = ANY (ARRAY['enforce'::text, 'testing'::text, 'none'::text]))
);

create table subject_word (
  account_id text not null,
  word text not null,
  template_id text not null,
  subject_word_pkey PRIMARY KEY (account_id, word, template_id),
  subject_word_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table suppression (
  account_id text not null,
  address text not null,
  reason text not null,
  message_id uuid,
  expires_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  suppression_pkey PRIMARY KEY (account_id, address, reason),
  suppression_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  suppression_reason_check CHECK (reason = ANY (ARRAY['hard_bounce'::text, 'complaint'::text, 'unsubscribe'::text, 'manual'::text]))
);
CREATE INDEX suppression_created ON suppression USING btree (account_id, created_at, address);

create table system_mail (
  id uuid not null,
  kind text not null,
  to_address text not null,
  person_id uuid,
  facts jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  due_at timestamp with time zone not null default now(),
  attempts integer not null default 0,
  account_id text,
  sent_with uuid,
  system_mail_pkey PRIMARY KEY (id),
  system_mail_kind_check CHECK (kind = ANY (ARRAY['password-link'::text, 'invitation'::text, 'sender-confirmation'::text, 'security-notice'::text])),
  system_mail_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX system_mail_due ON system_mail USING btree (due_at);
CREATE INDEX system_mail_person ON system_mail USING btree (person_id);

create table template (
  account_id text not null,
  id text not null,
  name text not null,
  created_by uuid,
  published_version integer,
  removed_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  when_uncertain text not null default 'resend'::text,
  template_pkey PRIMARY KEY (account_id, id),
  template_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  template_created_by CHECK (created_by IS NOT NULL OR account_id = '.system'::text),
  template_when_uncertain_check CHECK (when_uncertain = ANY (ARRAY['resend'::text, 'hold'::text]))
);

create table template_call (
  account_id text not null,
  template_id text not null,
  shape bytea not null,
  fields text[] not null,
  own_subject boolean not null,
  own_preview boolean not null,
  last_at timestamp with time zone not null,
  last_message_id uuid not null,
  template_call_pkey PRIMARY KEY (account_id, template_id, shape),
  template_call_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table template_draft (
  account_id text not null,
  template_id text not null,
  content jsonb not null,
  changed_by uuid,
  changed_at timestamp with time zone not null default now(),
  template_draft_pkey PRIMARY KEY (account_id, template_id),
  template_draft_account_id_template_id_fkey FOREIGN KEY (account_id, template_id) REFERENCES template(account_id, id) ON DELETE CASCADE
);

create table template_image (
  account_id text not null,
  template_id text not null,
  version integer not null,
  sha256 bytea not null,
  template_image_pkey PRIMARY KEY (account_id, template_id, version, sha256),
  template_image_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE,
  template_image_account_id_sha256_fkey FOREIGN KEY (account_id, sha256) REFERENCES attachment_content(account_id, sha256),
  template_image_account_id_template_id_fkey FOREIGN KEY (account_id, template_id) REFERENCES template(account_id, id) ON DELETE CASCADE
);
CREATE INDEX template_image_content ON template_image USING btree (account_id, sha256);

create table template_secret (
  account_id text not null,
  template_id text not null,
  name text not null,
  revealed_at timestamp with time zone,
  template_secret_pkey PRIMARY KEY (account_id, template_id, name),
  template_secret_account_id_template_id_fkey FOREIGN KEY (account_id, template_id) REFERENCES template(account_id, id) ON DELETE CASCADE
);

create table template_variant (
  account_id text not null,
  template_id text not null,
  version integer not null,
  locale text not null,
  source jsonb not null,
  compiled jsonb not null,
  template_variant_pkey PRIMARY KEY (account_id, template_id, version, locale),
  template_variant_account_id_template_id_version_fkey FOREIGN KEY (account_id, template_id, version) REFERENCES template_version(account_id, template_id, version) ON DELETE CASCADE
);

create table template_version (
  account_id text not null,
  template_id text not null,
  version integer not null,
  content_hash bytea not null,
  sender_address text,
  source jsonb not null,
  compiled jsonb not null,
  freshness_seconds integer not null default 900,
  created_at timestamp with time zone not null default now(),
  trial boolean not null default false,
  keep_until timestamp with time zone,
  template_version_pkey PRIMARY KEY (account_id, template_id, version),
  template_version_account_id_template_id_fkey FOREIGN KEY (account_id, template_id) REFERENCES template(account_id, id) ON DELETE CASCADE,
  template_version_freshness_seconds_check CHECK (freshness_seconds > 0)
);
CREATE INDEX template_version_trial ON template_version USING btree (keep_until) WHERE trial;

create table tls_result (
  day date not null,
  domain text not null,
  node uuid not null,
  policy_type text not null,
  type text not null,
  host text not null,
  sessions bigint not null,
  tls_result_pkey PRIMARY KEY (day, domain, node, policy_type, type, host),
  tls_result_policy_type_check CHECK (policy_type = ANY (ARRAY['sts'::text, 'no-policy-found'::text]))
);

create table warm_up_use (
  subject text not null,
  day date not null,
  node uuid not null,
  used bigint not null,
  warm_up_use_pkey PRIMARY KEY (subject, day, node)
);

create table webhook_delivery (
  account_id text not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  message_id uuid not null,
  retention_days smallint not null,
  kind text not null,
  recipient smallint,
  event_at timestamp with time zone not null,
  detail json not null,
  place bigint not null,
  state text not null default 'pending'::text,
  attempts integer not null default 0,
  claimed_until timestamp with time zone,
  due_since timestamp with time zone not null default now(),
  last_at timestamp with time zone,
  last_status integer,
  last_request text,
  last_answer text,
  erased boolean not null default false,
  tries jsonb not null default '[]'::jsonb,
  replay_id uuid,
  due_at timestamp with time zone not null default now(),
  bulk boolean not null default false,
  lease_owner uuid,
  orphaned smallint not null default 0,
  webhook_delivery_pkey PRIMARY KEY (account_id, endpoint_id, event_id),
  webhook_delivery_account_id_endpoint_id_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoint(account_id, id) ON DELETE CASCADE,
  webhook_delivery_state_check CHECK (state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text]))
);
CREATE INDEX webhook_delivery_done ON webhook_delivery USING btree (last_at) WHERE (state <> 'pending'::text);
CREATE INDEX webhook_delivery_due ON webhook_delivery USING btree (account_id, endpoint_id, bulk, due_at) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_log ON webhook_delivery USING btree (account_id, endpoint_id, place);
CREATE INDEX webhook_delivery_message ON webhook_delivery USING btree (account_id, message_id);
CREATE INDEX webhook_delivery_pending ON webhook_delivery USING btree (account_id, endpoint_id, message_id, place) WHERE (state = 'pending'::text);
CREATE INDEX webhook_delivery_undelivered ON webhook_delivery USING btree (account_id, endpoint_id, state, place) WHERE (state <> 'delivered'::text);

create table webhook_endpoint (
  account_id text not null,
  id uuid not null,
  url text not null,
  kinds text[] not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamp with time zone,
  failing_since timestamp with time zone,
  paused_at timestamp with time zone,
  paused_reason text,
  created_at timestamp with time zone not null default now(),
  permissions text[] not null default '{messages:read}'::text[],
  resumed_place bigint,
  format text not null default 'signalpost'::text,
  webhook_endpoint_pkey PRIMARY KEY (account_id, id),
  webhook_endpoint_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table webhook_position (
  account_id text not null,
  page bigint not null,
  size smallint not null,
  webhook_position_pkey PRIMARY KEY (account_id),
  webhook_position_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(id) ON DELETE CASCADE
);

create table webhook_replay (
  account_id text not null,
  endpoint_id uuid not null,
  id uuid not null,
  from_at timestamp with time zone not null,
  until_at timestamp with time zone not null,
  state text,
  after_place bigint not null default 0,
  up_to_place bigint not null,
  events integer not null default 0,
  created_at timestamp with time zone not null default now(),
  changed_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  webhook_replay_pkey PRIMARY KEY (account_id, endpoint_id, id),
  webhook_replay_account_id_endpoint_id_fkey FOREIGN KEY (account_id, endpoint_id) REFERENCES webhook_endpoint(account_id, id) ON DELETE CASCADE,
  webhook_replay_state_check CHECK (state = ANY (ARRAY['delivered'::text, 'failed'::text]))
);
CREATE UNIQUE INDEX webhook_replay_running ON webhook_replay USING btree (account_id, endpoint_id) WHERE (finished_at IS NULL);

create table wrong_guess (
  key bytea not null,
  failures integer not null,
  last_at timestamp with time zone not null,
  free_at timestamp with time zone not null,
  wrong_guess_pkey PRIMARY KEY (key)
);
CREATE INDEX wrong_guess_last ON wrong_guess USING btree (last_at);
