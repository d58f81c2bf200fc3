/** Where the client reports what an operator should know; pino's loggers have this shape. */
export type Log = {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};
