-- The browsers that one-time links admitted to the inbox: their cookie is signed now.
drop table inbox_browser;
