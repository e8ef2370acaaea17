/** What every provider takes as the name of a tool. */
const PLAIN_NAME = /^[\w-]{1,64}$/;

/**
 * The name under which a call is sent: its own, unless some provider would refuse it. Models
 * make names up, and a call that was answered "there is no such tool" stays in the log for good.
 */
export function plainToolName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return name.replace(/[^\w-]+/g, '_').slice(0, 64) || 'unnamed';
}
