-- Where an account gets the security notices of its owners and operators too.
alter table account add security_address text;
-- The key that replaced a rotated one.
alter table api_key add replaced_by uuid;
