-- Tracking hosts belong to sending domains; nothing writes one for a whole account.
drop table tracking_domain;
