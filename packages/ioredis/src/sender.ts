import type { Driver, DriverCommand } from "./client.ts";

/**
 * A view of the client whose `call()` sends each command at once, on its own, to a master, and never again.
 *
 * At once: with enableAutoPipelining the client's own `call()` waits behind a pipeline which a hung server
 * never answers, for ever if the connection then drops.
 */
export function senderOf(driver: Driver): Pick<Driver, "call"> {
  return Object.assign(Object.create(driver) as Driver, {
    options: { ...driver.options, enableAutoPipelining: false },
    sendCommand(command: DriverCommand) {
      // An index that no pipeline expects: when the connection closes, ioredis rejects the command as part
      // of a torn pipeline, instead of sending it again (or, with autoResendUnfulfilledCommands off,
      // forgetting it).
      command.pipelineIndex = -1;
      if (driver.isCluster) {
        // Upper case keeps it from being scaled out to replicas: only in lower case does ioredis know it as
        // a read. Routed before that, as older versions find no key in an upper-case command.
        command.getSlot();
        command.name = command.name.toUpperCase();
      }
      return driver.sendCommand(command);
    },
  });
}
