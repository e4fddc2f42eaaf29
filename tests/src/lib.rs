//! The kit: what development and tests share, and a whole system of real parts for one test.

pub mod answer;
pub mod chaos;
pub mod client;
pub mod database;
pub mod echo;
pub mod edge;
pub mod eventually;
pub mod fault_proxy;
pub mod folder;
pub mod links;
pub mod operator;
pub mod origin;
pub mod persistent;
pub mod port;
pub mod postgres;
pub mod provider;
pub mod sandbox;
pub mod tokens;
pub mod upstream;
pub mod worker;
pub mod world;
