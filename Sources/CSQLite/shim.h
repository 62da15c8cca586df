#pragma once
#include <sqlite3.h>

// sqlite3_db_config() takes a list that differs by its option, which Swift can't call.
static inline int bandferry_sqlite_keep_log_at_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
