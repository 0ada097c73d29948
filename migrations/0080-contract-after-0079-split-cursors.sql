-- Only releases without lanes create a position without saying where. None of them may begin a follower again whose position
-- is split, so positions are split only from here on.
alter table feed_cursor alter column tx drop default;
