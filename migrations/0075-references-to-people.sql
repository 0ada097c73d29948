-- Tables of accounts keep the IDs of people without a constraint, because people may be in another database than an account.
-- No release deletes people, so no row is affected and older processes notice nothing.
alter table template drop constraint template_created_by_fkey;
alter table template_draft drop constraint template_draft_changed_by_fkey;
alter table sender_proof drop constraint sender_proof_asked_by_fkey;
