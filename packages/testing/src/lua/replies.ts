import { type Reply, ReplyError, StatusReply } from "../reply.ts";
import { LuaTable, type LuaValue } from "./values.ts";

/** Converts a command's reply for the script that called it. */
export function replyToLua(reply: Reply): LuaValue {
  if (typeof reply === "string" || typeof reply === "number") return reply;
  if (reply === null) return false;
  if (reply instanceof StatusReply) return tableWith("ok", reply.text);
  if (reply instanceof ReplyError) return tableWith("err", reply.message);
  return new LuaTable(reply.map(replyToLua));
}

/** Converts what a script returns: numbers lose their fraction, a table ends at its first nil. */
export function luaToReply(value: LuaValue): Reply {
  if (typeof value === "string") return value;
  if (typeof value === "number") return toInt64(value);
  if (value === true) return 1;
  return value instanceof LuaTable ? tableToReply(value) : null;
}

export function tableWith(field: string, value: LuaValue): LuaTable {
  const table = new LuaTable();
  table.set(field, value);
  return table;
}

function tableToReply(table: LuaTable): Reply {
  const error = table.get("err");
  if (typeof error === "string") return new ReplyError(oneLine(error));
  const status = table.get("ok");
  if (typeof status === "string") return new StatusReply(oneLine(status));
  const end = table.list.indexOf(undefined);
  return (end < 0 ? table.list : table.list.slice(0, end)).map(luaToReply);
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, " ");
}

/** The cast to a 64-bit integer; on x86 everything outside becomes the smallest one. */
export function toInt64(value: number): number {
  const whole = Math.trunc(value);
  return whole >= -(2 ** 63) && whole < 2 ** 63 ? whole + 0 : -(2 ** 63);
}
