// The types of an old client cannot be found from an ES module; what tests use of it is as in the present
// one.
declare module "socket.io-client-4.1" {
  export { io } from "socket.io-client";
}
